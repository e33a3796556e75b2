// Two builds of libtilewright.so beside each other: the same kernel by name from both, in turns of
// 10 ms, 21 rounds, medians. What a change of structure costs shows as a ratio. INSTANCE leaves
// others out; --host measures what calls cost the host instead: cold, for a shape that the library
// has not seen, and warm.
//
//   nvcc -std=c++20 -O2 -arch=sm_90a -Iinclude -IBUILD/include bench/old_new.cu -o old_new -ldl
//   ./old_new OLD/libtilewright.so NEW/libtilewright.so [INSTANCE|--host]
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tilewright.h"

struct Library {
  explicit Library(const char* path) {
    void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(2);
    }
    init = reinterpret_cast<decltype(init)>(dlsym(handle, "tw_init"));
    run = reinterpret_cast<decltype(run)>(dlsym(handle, "tw_run"));
    message = reinterpret_cast<decltype(message)>(dlsym(handle, "tw_message"));
    if (init == nullptr || run == nullptr || message == nullptr) {
      std::fprintf(stderr, "%s is older than version 0.6, which has tw_init and tw_run.\n", path);
      std::exit(2);
    }
  }
  tw_status (*init)(const char*, void*, size_t, tw_options*);
  tw_status (*run)(const void*, const tw_options*, void*, size_t, void*);
  const char* (*message)();
};

// Random bits that are numbers of ordinary size in 16 bits, and in twice 8.
__global__ void fill(unsigned short* to, size_t count, bool bytes) {
  for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) {
    unsigned hash = static_cast<unsigned>(i) * 2654435761u;
    hash = (hash ^ hash >> 15) * 2246822519u;
    hash ^= hash >> 13;
    to[i] = static_cast<unsigned short>(bytes ? hash & 0xb7b7
                                              : 0x3c00 + (hash & 0x83ff) + (hash >> 16 & 0x0180));
  }
}

struct Job {
  const char* instance;
  int m, n, k;
  tw_type type = TW_BF16, d_type = TW_BF16;
  bool residual = false;
};

std::vector<Job> jobs() {
  std::vector<Job> all;
  for (const char* name : {"coop_128x256_2x1", "pingpong_128x128_2x1", "pingpong_128x160_2x1",
                           "bf16_128x192_2x1", "hopper_stream", "bf16_128x128_parts"}) {
    all.push_back({name, 4096, 4096, 4096});
    all.push_back({name, 2048, 6144, 4096});
    all.push_back({name, 512, 8192, 8192});
  }
  for (const char* name : {"bf16_64x64", "bf16_64x128", "bf16_128x128"}) {
    for (const int m : {64, 128}) all.push_back({name, m, 8192, 4096});
  }
  for (const char* name : {"hopper_e4m3", "e4m3_128x128", "e4m3_pingpong_128x128_2x1"}) {
    all.push_back({name, 4096, 4096, 4096, TW_E4M3});
  }
  for (const int m : {128, 1024, 4096}) {
    for (const int k : {512, 4096}) {
      all.push_back({"hopper_residual", m, 4096, k, TW_BF16, TW_BF16, true});
    }
  }
  all.push_back({"hopper_fp16", 4096, 4096, 4096, TW_FP16, TW_FP16});
  all.push_back({"hopper_tf32", 2048, 2048, 4096, TW_TF32, TW_FP32});
  all.push_back({"ampere_bf16", 2048, 2048, 4096});
  all.push_back({"any_bf16", 2048, 2048, 4096});
  return all;
}

constexpr size_t bytes = size_t{1} << 29, workspace_bytes = size_t{64} << 20;

// Microseconds of one call after another, by turns of the libraries; what they enqueue is waited
// for before the queue fills. A cold one is the first of its shape, by kernels that ran before.
int measure_host(const Library (&libraries)[2], void* a, void* b, void* d, void* workspace) {
  constexpr int shapes = 600;
  std::vector<double> cold[2], warm[2];
  for (int number = 0; number < shapes; ++number) {
    const unsigned mixed = static_cast<unsigned>(number) * 2654435761u;
    const int m = 16 + number, n = 64 + static_cast<int>((mixed >> 8) % 240) * 8,
              k = 64 + static_cast<int>((mixed >> 20) % 240) * 8;
    for (int i = 0; i < 2; ++i) {
      const int which = number % 2 == 0 ? 1 - i : i;
      tw_matmul_problem problem;
      tw_matmul_options options;
      libraries[which].init("matmul", &problem, sizeof problem, &options);
      options.workspace_is_ready = 1;
      options.workspace_limit = workspace_bytes;
      problem.m = m, problem.n = n, problem.k = k;
      problem.a = {a, k, 1, 0, TW_BF16};
      problem.b = {b, 1, k, 0, TW_BF16};
      problem.d = {d, n, 1, 0, TW_BF16};
      cudaDeviceSynchronize();
      for (int call = 0; call < 21; ++call) {
        const auto begin = std::chrono::steady_clock::now();
        const tw_status status =
            libraries[which].run(&problem, &options, workspace, workspace_bytes, nullptr);
        const std::chrono::duration<double, std::micro> taken =
            std::chrono::steady_clock::now() - begin;
        if (status != TW_OK) return std::fprintf(stderr, "%s\n", libraries[which].message()), 1;
        if (number >= shapes / 3) (call == 0 ? cold : warm)[which].push_back(taken.count());
      }
    }
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return std::fprintf(stderr, "A launch failed.\n"), 1;
  for (auto* times : {cold, warm}) {
    for (int i = 0; i < 2; ++i) std::sort(times[i].begin(), times[i].end());
    const size_t count = times[0].size();
    std::printf(
        "%s: old %.2f us (9 of 10 below %.2f), new %.2f us (9 of 10 below %.2f), %zu calls\n",
        times == cold ? "cold" : "warm", times[0][count / 2], times[0][count * 9 / 10],
        times[1][count / 2], times[1][count * 9 / 10], count);
  }
  return 0;
}

int main(int count, char** words) {
  if (count != 3 && count != 4) return std::fprintf(stderr, "Two libraries are needed.\n"), 2;
  const Library libraries[2] = {Library(words[1]), Library(words[2])};
  void *a, *b, *c, *d, *workspace;
  for (void** memory : {&a, &b, &c, &d}) cudaMalloc(memory, bytes);
  cudaMalloc(&workspace, workspace_bytes);
  cudaMemset(workspace, 0, workspace_bytes);
  if (count == 4 && std::strcmp(words[3], "--host") == 0) {
    return measure_host(libraries, a, b, d, workspace);
  }
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  double total = 0, furthest = 0;
  int measured = 0;
  for (const Job& job : jobs()) {
    if (count == 4 && std::strcmp(words[3], job.instance) != 0) continue;
    for (void* memory : {a, b, c}) {
      fill<<<1024, 256>>>(static_cast<unsigned short*>(memory), bytes / 2,
                          job.type == TW_E4M3 && memory != c);
    }
    // Launches of a library in one turn, and what one of them took in each.
    struct Turn {
      tw_matmul_problem problem;
      tw_matmul_options options;
      int launches = 1;
      std::vector<double> microseconds;
    } turns[2];
    for (int i = 0; i < 2; ++i) {
      Turn& turn = turns[i];
      libraries[i].init("matmul", &turn.problem, sizeof turn.problem, &turn.options);
      turn.problem.m = job.m, turn.problem.n = job.n, turn.problem.k = job.k;
      turn.problem.a = {a, job.k, 1, 0, job.type};
      turn.problem.b = {b, 1, job.k, 0, job.type};
      turn.problem.d = {d, job.n, 1, 0, job.d_type};
      if (job.residual) {
        turn.problem.epilogue.beta = 1;
        turn.problem.epilogue.source = {c, job.n, 1, 0, TW_BF16};
      }
      turn.options.instance = job.instance;
      turn.options.workspace_is_ready = 1;
    }
    bool good = true;
    for (int round = -2; round < 21 && good; ++round) {
      for (int i = 0; i < 2; ++i) {
        const int which = round % 2 == 0 ? 1 - i : i;
        Turn& turn = turns[which];
        cudaEventRecord(begin);
        for (int launch = 0; launch < turn.launches && good; ++launch) {
          good = libraries[which].run(&turn.problem, &turn.options, workspace, workspace_bytes,
                                      nullptr) == TW_OK;
        }
        if (!good) std::printf("%s: %s\n", job.instance, libraries[which].message());
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float milliseconds;
        cudaEventElapsedTime(&milliseconds, begin, end);
        const double one = milliseconds / turn.launches;
        if (round >= 0) turn.microseconds.push_back(1000 * one);
        if (round < 0) turn.launches = std::max(1, static_cast<int>(10.0 / one));
      }
    }
    if (!good) continue;
    for (Turn& turn : turns) std::sort(turn.microseconds.begin(), turn.microseconds.end());
    const double old_us = turns[0].microseconds[10], new_us = turns[1].microseconds[10];
    std::printf("%-26s %5d x %5d x %5d: old %8.2f us, new %8.2f us, old / new %.4f\n", job.instance,
                job.m, job.n, job.k, old_us, new_us, old_us / new_us);
    total += std::log(old_us / new_us);
    furthest = std::max(furthest, std::fabs(old_us / new_us - 1));
    ++measured;
  }
  std::printf("%d jobs, geometric mean of old / new %.4f, furthest from 1 by %.4f\n", measured,
              std::exp(total / measured), furthest);
  return measured > 0 ? 0 : 1;
}
