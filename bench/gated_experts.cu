// Gate and up of experts in FP8 with their gate and quantisation in one epilogue, beside grouped
// FP8 whose D is bf16 and has no gate: the same products, in turns, a foreign kernel between.
//
//   nvcc -O2 -std=c++20 -arch=sm_90a -I include -I build/cuda/include bench/gated_experts.cu \
//     -o gated_experts -L build/cuda/src/library -ltilewright
#include <cuda_runtime.h>
#include <tilewright.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>
#define OK(x)                       \
  do {                              \
    if ((x) != TW_OK) {             \
      printf("%s\n", tw_message()); \
      return;                       \
    }                               \
  } while (0)
static void* memory(size_t bytes, int value = 0) {
  void* p;
  cudaMalloc(&p, bytes);
  cudaMemset(p, value, bytes);
  return p;
}
__global__ void foreign(float* p, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * (size_t)blockDim.x)
    p[i] += 1.0f;
}
static void measure(const char* name, int experts, int rows, long n, long k) {
  const long m = (long)experts * rows;
  const long nb = n / 128, kb = k / 128;
  const int copies = std::max(1l, std::min(6l, 400000000l / (experts * n * k) + 1));
  std::vector<void*> b;
  for (int i = 0; i < copies; ++i) b.push_back(memory(experts * n * k, 0x38));
  void *a = memory(m * k, 0x38), *d = memory(m * n), *wide = memory(m * n * 2);
  std::vector<float> ones(std::max({m * kb, experts * nb * kb, m * nb}), 0.0125f);
  auto* as = (float*)memory(m * kb * 4);
  cudaMemcpy(as, ones.data(), m * kb * 4, cudaMemcpyHostToDevice);
  auto* bs = (float*)memory(experts * nb * kb * 4);
  cudaMemcpy(bs, ones.data(), experts * nb * kb * 4, cudaMemcpyHostToDevice);
  auto* ds = (float*)memory(m * nb * 4);
  std::vector<int> ends;
  for (int i = 1; i <= experts; ++i) ends.push_back(i * rows);
  auto* e = (int*)memory(experts * 4);
  cudaMemcpy(e, ends.data(), experts * 4, cudaMemcpyHostToDevice);
  float* scratch = (float*)memory(64 << 20);
  const auto fill = [&](tw_matmul_problem& p, void* weights) {
    p.m = m, p.n = n, p.k = k, p.batch = experts;
    p.a = {a, k, 1, 0, TW_E4M3};
    p.b = {weights, 1, k, n * k, TW_E4M3};
  };
  const tw_scales of_a = {as, m, kb, kb, 1, 0, TW_FP32},
                  of_b = {bs, nb, kb, kb, 1, nb * kb, TW_FP32};
  const auto gated = [&](int i, const char* instance) {
    tw_requantised_problem p;
    tw_options o;
    tw_requantised_init(&p, &o);
    o.instance = instance;
    fill(p.matmul, b[i % copies]);
    p.matmul.d = {d, n / 2, 1, 0, TW_E4M3};
    p.a_scales = of_a;
    p.b_scales = of_b;
    p.d_scales = {ds, n / 256, 1, 0, TW_FP32};
    p.gated_blocks = 1;
    p.rows = e;
    p.matmul.epilogue.activation = TW_SILU;
    OK(tw_requantised(&p, &o, NULL, 0, 0));
  };
  const auto plain = [&](int i, const char* instance) {
    tw_grouped_problem p;
    tw_options o;
    tw_grouped_init(&p, &o);
    o.instance = instance;
    fill(p.matmul, b[i % copies]);
    p.matmul.d = {wide, n, 1, 0, TW_BF16};
    p.a_scales = of_a;
    p.b_scales = of_b;
    p.rows = e;
    OK(tw_grouped(&p, &o, NULL, 0, 0));
  };
  struct Side {
    std::string name;
    std::function<void(int)> run;
    std::vector<float> us;
  };
  std::vector<Side> sides = {
      {"gated_64", [&](int i) { gated(i, "gated_experts_64x256"); }, {}},
      {"gated_128", [&](int i) { gated(i, "gated_experts_128x256"); }, {}},
      {"gated (chosen)", [&](int i) { gated(i, NULL); }, {}},
      {"grouped_fp8_128x256", [&](int i) { plain(i, "grouped_fp8_128x256"); }, {}},
      {"grouped (chosen)", [&](int i) { plain(i, NULL); }, {}},
      {"grouped_fp8_64x128", [&](int i) { plain(i, "grouped_fp8_64x128"); }, {}},
      {"grouped_fp8_128x128", [&](int i) { plain(i, "grouped_fp8_128x128"); }, {}}};
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  for (int round = 0; round < 12; ++round)
    for (auto& side : sides) {
      foreign<<<264, 256>>>(scratch, 16 << 20);
      cudaEventRecord(from);
      side.run(round);
      cudaEventRecord(to);
      cudaEventSynchronize(to);
      float ms;
      cudaEventElapsedTime(&ms, from, to);
      if (round > 1) side.us.push_back(ms * 1000);
    }
  for (auto& side : sides) {
    std::sort(side.us.begin(), side.us.end());
    const float us = side.us[side.us.size() / 2];
    printf("%s experts %d rows %d n %ld k %ld %s %.1f us %.2f TB/s %.0f TFLOP/s\n", name, experts,
           rows, n, k, side.name.c_str(), us, 1e-6 * experts * n * k / us, 2e-6 * m * n * k / us);
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  for (void* p : b) cudaFree(p);
  for (void* p : {a, d, wide, (void*)as, (void*)bs, (void*)ds, (void*)e, (void*)scratch})
    cudaFree(p);
}
int main() {
  measure("qwen3", 128, 1, 1536, 2048);
  measure("qwen3", 128, 16, 1536, 2048);
  measure("qwen3", 128, 256, 1536, 2048);
  measure("qwen3 down", 128, 256, 2048, 768);
  measure("mixtral down", 8, 1024, 4096, 14336);
  measure("mixtral down", 8, 16, 4096, 14336);
  measure("mixtral", 8, 2, 28672, 4096);
  measure("mixtral", 8, 16, 28672, 4096);
  measure("mixtral", 8, 1024, 28672, 4096);
}
