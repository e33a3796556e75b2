// Many launches of every family in mixed shapes, from several threads with two streams each: calls
// first, then CUDA graphs of calls. Every result is compared bit by bit, on the device, with the
// first one of its problem, and poisoned by the kernel that compared it: whatever a launch leaves
// out differs.
//
//   nvcc -std=c++20 -O2 -arch=sm_90a -Iinclude -IBUILD/include bench/soak.cu -o soak
//   -L BUILD/src/library -ltilewright
//   ./soak CALLS LAUNCHES_IN_GRAPHS SEED [FAMILY...]
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tilewright.h"

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

void must(tw_status status) {
  must(status == TW_OK ? cudaSuccess : cudaErrorUnknown, tw_message());
}

// Small numbers of either sign in 16 bits (bf16 and fp16), or in each of two bytes (fp8, s8).
__global__ void fill(unsigned short* to, size_t count, unsigned seed, bool bytes) {
  for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) {
    unsigned hash = (static_cast<unsigned>(i) + seed) * 2654435761u;
    hash = (hash ^ hash >> 15) * 2246822519u;
    hash ^= hash >> 13;
    to[i] = static_cast<unsigned short>(bytes ? hash & 0xb7b7 : 0x3c00 + (hash & 0x83ff));
  }
}
__global__ void fill_scales(float* to, size_t count) {
  for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) {
    to[i] = 0.5f + static_cast<float>(i % 7);
  }
}
// Outputs are allocated in whole pieces of 16 bytes, and no kernel writes behind its own: what is
// there is poison on both sides.
size_t pieces_of(size_t bytes) { return (bytes + 15) / 16; }

__global__ void compare(uint4* given, const uint4* expected, size_t pieces,
                        unsigned long long* differences) {
  for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < pieces; i += gridDim.x * 256ull) {
    const uint4 got = given[i], wanted = expected[i];
    given[i] = {~0u, ~0u, ~0u, ~0u};
    const unsigned wrong =
        (got.x != wanted.x) + (got.y != wanted.y) + (got.z != wanted.z) + (got.w != wanted.w);
    if (wrong != 0) atomicAdd(differences, wrong);
  }
}

constexpr size_t workspace_bytes = 64u << 20;

void* device_memory(size_t bytes) {
  void* memory = nullptr;
  must(cudaMalloc(&memory, bytes + 256), "cudaMalloc");
  must(cudaMemset(memory, 0, bytes + 256), "cudaMemset");
  return memory;
}
void* random_memory(size_t bytes, unsigned seed, bool in_bytes) {
  auto* const memory = static_cast<unsigned short*>(device_memory(bytes));
  fill<<<64, 256>>>(memory, (bytes + 1) / 2, seed, in_bytes);
  return memory;
}
void* scales_memory(size_t count) {
  auto* const memory = static_cast<float*>(device_memory(count * 4));
  fill_scales<<<16, 256>>>(memory, count);
  return memory;
}

const std::int32_t* on_device(const std::vector<std::int32_t>& numbers) {
  void* const memory = device_memory(numbers.size() * 4);
  must(cudaMemcpy(memory, numbers.data(), numbers.size() * 4, cudaMemcpyHostToDevice), "a list");
  return static_cast<const std::int32_t*>(memory);
}

using Random = std::mt19937;
int between(Random& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

struct Case {
  std::function<tw_status(void* output, void* workspace, cudaStream_t)> call;
  size_t bytes = 0;  // of the output
  void* expected = nullptr;
};

tw_matmul_options options_of() {
  tw_matmul_problem unused;
  tw_matmul_options options;
  tw_matmul_init(&unused, &options);
  options.workspace_is_ready = 1;
  return options;
}

// m by n by k with the types' usual layout, and random activations; D is filled in by the call.
void state_product(tw_matmul_problem& p, Random& random, tw_type type, std::int64_t m,
                   std::int64_t n, std::int64_t k, std::int64_t batch_of_b) {
  const bool in_bytes = type != TW_BF16 && type != TW_FP16;
  const size_t element = in_bytes ? 1 : 2;
  const bool b_by_rows = !in_bytes && random() % 3 == 0;
  p.m = m, p.n = n, p.k = k;
  p.a = {random_memory(static_cast<size_t>(m * k) * element, random(), in_bytes), k, 1, 0, type};
  void* const b =
      random_memory(static_cast<size_t>(batch_of_b * n * k) * element, random(), in_bytes);
  p.b = b_by_rows ? tw_matrix{b, n, 1, n * k, type} : tw_matrix{b, 1, k, n * k, type};
  p.d = {nullptr, n, 1, 0, type == TW_FP16 ? TW_FP16 : TW_BF16};
  p.epilogue.activation = static_cast<tw_activation>(random() % 4);
}

Case product(tw_matmul_problem p) {
  return {[p](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_matmul_options options = options_of();
            p.d.data = output;
            return tw_matmul(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.m * p.n) * 2};
}

Case matmul(Random& random) {
  const tw_type types[] = {TW_BF16, TW_BF16, TW_FP16, TW_E4M3};
  const tw_type type = types[random() % 4];
  const bool odd = type == TW_BF16 && random() % 3 == 0;
  tw_matmul_problem p;
  tw_matmul_init(&p, nullptr);
  state_product(p, random, type, between(random, 1, 500), between(random, 1, 75) * (odd ? 7 : 8),
                odd ? between(random, 1, 700) : between(random, 1, 44) * 16, 1);
  return product(p);
}

Case conv2d(Random& random) {
  tw_conv2d_problem p;
  tw_conv2d_init(&p, nullptr);
  const int filter = between(random, 1, 3), groups = random() % 4 == 0 ? 4 : 1;
  const int channels = random() % 4 == 0 ? 3 : 8;
  p.n = between(random, 1, 4), p.groups = groups;
  p.c = between(random, 1, 8) * channels * groups, p.k = between(random, 1, 12) * 8 * groups;
  const auto axis = [&](int extent) {
    return tw_conv2d_axis{extent, filter, between(random, 1, 2), 1, filter / 2, filter / 2};
  };
  p.h = axis(between(random, 3, 24)), p.w = axis(between(random, 3, 24));
  p.type = p.d_type = TW_BF16;
  const auto outputs = [](const tw_conv2d_axis& a) {
    return (a.extent + a.pad_low + a.pad_high - a.filter) / a.stride + 1;
  };
  p.image =
      random_memory(static_cast<size_t>(p.n * p.h.extent * p.w.extent * p.c) * 2, random(), false);
  p.filter =
      random_memory(static_cast<size_t>(p.k * filter * filter * p.c / groups) * 2, random(), false);
  return {[p](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_conv2d_options options = options_of();
            p.d = output;
            return tw_conv2d(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.n * outputs(p.h) * outputs(p.w) * p.k) * 2};
}

tw_scales scales_of(std::int64_t rows, std::int64_t k, std::int64_t batch) {
  const std::int64_t blocks = (k + 127) / 128;
  tw_scales scales = {};
  scales.type = TW_FP32;
  scales.data = scales_memory(static_cast<size_t>(rows * blocks * batch));
  scales.rows = rows, scales.k_blocks = blocks;
  scales.row_stride = blocks, scales.k_stride = 1, scales.batch_stride = rows * blocks;
  return scales;
}

Case blockwise(Random& random) {
  tw_blockwise_problem p;
  tw_blockwise_init(&p, nullptr);
  state_product(p.matmul, random, TW_E4M3, between(random, 1, 400), between(random, 1, 40) * 16,
                between(random, 1, 40) * 16, 1);
  p.a_scales = scales_of(p.matmul.m, p.matmul.k, 1);
  p.b_scales = scales_of((p.matmul.n + 127) / 128, p.matmul.k, 1);
  return {[p](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_blockwise_options options = options_of();
            p.matmul.d.data = output;
            return tw_blockwise(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.matmul.m * p.matmul.n) * 2};
}

Case grouped(Random& random) {
  const int groups = between(random, 1, 6);
  std::vector<std::int32_t> ends(static_cast<size_t>(groups));
  std::int32_t rows = 0;
  for (std::int32_t& end : ends) end = rows += between(random, 0, 120);
  tw_grouped_problem p;
  tw_grouped_init(&p, nullptr);
  p.matmul.batch = groups;
  state_product(p.matmul, random, TW_BF16, rows + 1, between(random, 1, 40) * 8,
                between(random, 1, 40) * 8, groups);
  p.rows = on_device(ends);
  return {[p](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_grouped_options options = options_of();
            p.matmul.d.data = output;
            return tw_grouped(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.matmul.m * p.matmul.n) * 2};
}

Case quantise(Random& random) {
  tw_quantise_problem p;
  tw_quantise_init(&p, nullptr);
  p.m = between(random, 1, 300), p.k = between(random, 1, 700);
  p.scale_rows = random() % 2 == 0 ? 1 : 128;
  const std::int64_t blocks = (p.k + 127) / 128, lines = (p.m + p.scale_rows - 1) / p.scale_rows;
  const size_t elements = (static_cast<size_t>(p.m * p.k) + 255) / 256 * 256;
  p.source = {random_memory(static_cast<size_t>(p.m * p.k) * 2, random(), false), p.k, 1, 0,
              TW_BF16};
  p.elements = {nullptr, p.k, 1, 0, TW_E4M3};
  p.scales = {nullptr, blocks, 1, 0, TW_FP32};
  return {[p, elements](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_quantise_options options = options_of();
            p.elements.data = output;
            p.scales.data = static_cast<char*>(output) + elements;
            return tw_quantise(&p, &options, workspace, workspace_bytes, stream);
          },
          elements + static_cast<size_t>(lines * blocks) * 4};
}

// Long sums of few tiles, which are made in parts; from four parts on, several finish a share each.
Case long_sums(Random& random) {
  tw_matmul_problem p;
  tw_matmul_init(&p, nullptr);
  state_product(p, random, TW_BF16, between(random, 1, 5) * 64, between(random, 1, 5) * 64,
                between(random, 32, 96) * 128, 1);
  return product(p);
}

// Prefill, or decode of few queries with long keys.
Case attention(Random& random) {
  tw_attention_problem p;
  tw_attention_init(&p, nullptr);
  const bool decodes = random() % 2 == 0, in_bytes = !decodes && random() % 3 == 0;
  p.key_heads = between(random, 1, 2), p.heads = p.key_heads * between(random, 1, 4);
  p.head_size = in_bytes || random() % 2 == 0 ? 128 : 64;
  p.sequences = between(random, 1, 3), p.causal = random() % 2;
  p.keys = decodes ? between(random, 1, 1500) : between(random, 1, 400);
  p.queries = decodes ? between(random, 1, 4) : between(random, 1, static_cast<int>(p.keys));
  const tw_type type = in_bytes ? TW_E4M3 : TW_BF16;
  const auto tensor = [&](std::int64_t tokens, std::int64_t heads) {
    const std::int64_t elements = tokens * p.sequences * heads * p.head_size;
    void* const memory =
        random_memory(static_cast<size_t>(elements) * (in_bytes ? 1 : 2), random(), in_bytes);
    return tw_matrix{memory, heads * p.head_size, 1, p.head_size, type};
  };
  p.q = tensor(p.queries, p.heads);
  p.k = tensor(p.keys, p.key_heads), p.v = tensor(p.keys, p.key_heads);
  p.output = {nullptr, p.heads * p.head_size, 1, p.head_size, TW_BF16};
  return {[p](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_attention_options options = options_of();
            p.output.data = output;
            return tw_attention(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.queries * p.sequences * p.heads * p.head_size) * 2};
}

Case rms_norm(Random& random) {
  tw_rms_norm_problem p;
  tw_rms_norm_init(&p, nullptr);
  p.m = between(random, 1, 300), p.k = between(random, 1, 100) * 16;
  p.source = {random_memory(static_cast<size_t>(p.m * p.k) * 2, random(), false), p.k, 1, 0,
              TW_BF16};
  p.output = {nullptr, p.k, 1, 0, TW_BF16};
  p.weight = random_memory(static_cast<size_t>(p.k) * 2, random(), false);
  p.weight_type = TW_BF16;
  return {[p](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_rms_norm_options options = options_of();
            p.output.data = output;
            return tw_rms_norm(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.m * p.k) * 2};
}

// Queries, keys and values one behind the other.
Case rotary(Random& random) {
  tw_rotary_problem p;
  tw_rotary_init(&p, nullptr);
  p.tokens = p.rows = p.all_positions = between(random, 1, 200);
  p.key_heads = between(random, 1, 2), p.heads = p.key_heads * between(random, 1, 4);
  p.head_size = random() % 2 == 0 ? 128 : 64;
  const std::int64_t queries = p.heads * p.head_size, keys = p.key_heads * p.head_size;
  const size_t angles = static_cast<size_t>(p.tokens * p.head_size / 2);
  p.qkv = {random_memory(static_cast<size_t>(p.tokens * (queries + 2 * keys)) * 2, random(), false),
           queries + 2 * keys, 1, 0, TW_BF16};
  p.cosines = {scales_memory(angles), p.head_size / 2, 1, 0, TW_FP32};
  p.sines = {scales_memory(angles), p.head_size / 2, 1, 0, TW_FP32};
  return {[p, queries, keys](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_rotary_options options = options_of();
            auto* const memory = static_cast<char*>(output);
            p.q = {memory, queries, 1, 0, TW_BF16};
            p.k = {memory + p.tokens * queries * 2, keys, 1, 0, TW_BF16};
            p.v = {memory + p.tokens * (queries + keys) * 2, keys, 1, 0, TW_BF16};
            return tw_rotary(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.tokens * (queries + 2 * keys)) * 2};
}

// D and its scales, one behind the other.
Case requantised(Random& random) {
  tw_requantised_problem p;
  tw_requantised_init(&p, nullptr);
  state_product(p.matmul, random, TW_E4M3, between(random, 1, 300), between(random, 1, 5) * 128,
                between(random, 1, 8) * 128, 1);
  p.a_scales = scales_of(p.matmul.m, p.matmul.k, 1);
  p.b_scales = scales_of(p.matmul.n / 128, p.matmul.k, 1);
  p.matmul.d.type = TW_E4M3;
  const std::int64_t blocks = p.matmul.n / 128;
  p.d_scales = {nullptr, blocks, 1, 0, TW_FP32};
  const size_t elements = (static_cast<size_t>(p.matmul.m * p.matmul.n) + 255) / 256 * 256;
  return {[p, elements](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_requantised_options options = options_of();
            p.matmul.d.data = output;
            p.d_scales.data = static_cast<char*>(output) + elements;
            return tw_requantised(&p, &options, workspace, workspace_bytes, stream);
          },
          elements + static_cast<size_t>(p.matmul.m * blocks) * 4};
}

size_t bytes_of_block_scales(std::int64_t m, std::int64_t k) {
  return static_cast<size_t>((m + 127) / 128 * ((k + 127) / 128)) * 512;
}

Case block_quantise(Random& random) {
  tw_block_quantise_problem p;
  tw_block_quantise_init(&p, nullptr);
  p.m = between(random, 1, 300), p.k = between(random, 1, 20) * 32;
  p.source = {random_memory(static_cast<size_t>(p.m * p.k) * 2, random(), false), p.k, 1, 0,
              TW_BF16};
  p.elements = {nullptr, p.k, 1, 0, TW_E4M3};
  p.scale = TW_UE8M0;
  const size_t elements = (static_cast<size_t>(p.m * p.k) + 255) / 256 * 256;
  return {[p, elements](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_block_quantise_options options = options_of();
            p.elements.data = output;
            p.scales = static_cast<char*>(output) + elements;
            return tw_block_quantise(&p, &options, workspace, workspace_bytes, stream);
          },
          elements + bytes_of_block_scales(p.m, p.k)};
}

Case block_dequantise(Random& random) {
  tw_block_dequantise_problem p;
  tw_block_dequantise_init(&p, nullptr);
  p.m = between(random, 1, 300), p.k = between(random, 1, 20) * 32;
  p.elements = {random_memory(static_cast<size_t>(p.m * p.k), random(), true), p.k, 1, 0, TW_E4M3};
  p.values = {nullptr, p.k, 1, 0, TW_BF16};
  p.scale = TW_UE8M0;
  p.scales = random_memory(bytes_of_block_scales(p.m, p.k), random(), true);
  return {[p](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_block_dequantise_options options = options_of();
            p.values.data = output;
            return tw_block_dequantise(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.m * p.k) * 2};
}

// Four-bit codes with a scale of bf16 for each 128 of k.
tw_pack_weights_problem weights_of(Random& random, std::int64_t n, std::int64_t k) {
  tw_pack_weights_problem p;
  tw_pack_weights_init(&p, nullptr);
  p.n = n, p.k = k, p.group = 128, p.format = TW_INT4, p.activation = TW_BF16;
  p.codes = {random_memory(static_cast<size_t>(n * k) / 2, random(), false), k / 8, 1, 0, TW_S32};
  p.scales = {random_memory(static_cast<size_t>(n * k) / 64, random(), false), k / 128, 1, 0,
              TW_BF16};
  return p;
}
size_t bytes_of(const tw_pack_weights_problem& p) {
  std::int64_t extents[4][3] = {};  // codes, scales, zeros and what is packed
  must(tw_extents(extents[0], 4, &p));
  return static_cast<size_t>(extents[3][0] * extents[3][1] * extents[3][2]);
}

Case pack_weights(Random& random) {
  const std::int64_t n = between(random, 1, 8) * 64, k = between(random, 1, 8) * 128;
  const tw_pack_weights_problem stated = weights_of(random, n, k);
  return {[stated](void* output, void* workspace, cudaStream_t stream) {
            tw_pack_weights_problem p = stated;
            const tw_pack_weights_options options = options_of();
            p.packed = output;
            return tw_pack_weights(&p, &options, workspace, workspace_bytes, stream);
          },
          bytes_of(stated)};
}

Case four_bit(Random& random) {
  tw_four_bit_problem p;
  tw_four_bit_init(&p, nullptr);
  p.m = between(random, 1, 200), p.n = between(random, 1, 12) * 64;
  p.k = between(random, 1, 24) * 128;
  tw_pack_weights_problem weights = weights_of(random, p.n, p.k);
  weights.packed = device_memory(bytes_of(weights));
  must(tw_pack_weights(&weights, nullptr, nullptr, 0, nullptr));
  must(cudaDeviceSynchronize(), "packing");
  p.a = {random_memory(static_cast<size_t>(p.m * p.k) * 2, random(), false), p.k, 1, 0, TW_BF16};
  p.weights = weights.packed, p.format = TW_INT4, p.scale_group = 128;
  p.d = {nullptr, p.n, 1, 0, TW_BF16};
  return {[p](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_four_bit_options options = options_of();
            p.d.data = output;
            return tw_four_bit(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.m * p.n) * 2};
}

Case route(Random& random) {
  tw_route_problem p;
  tw_route_init(&p, nullptr);
  p.tokens = between(random, 1, 300), p.experts = between(random, 1, 8) * 16;
  p.k = between(random, 1, 8);
  p.logits = {random_memory(static_cast<size_t>(p.tokens * p.experts) * 2, random(), false),
              p.experts, 1, 0, TW_BF16};
  const std::int64_t rows = p.tokens * p.k;
  return {[p, rows](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_route_options options = options_of();
            p.weights = static_cast<float*>(output);
            p.chosen = static_cast<std::int32_t*>(output) + rows;
            p.places = p.chosen + rows, p.index = p.places + rows, p.ends = p.index + rows;
            return tw_route(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(4 * rows + p.experts) * 4};
}

Case combine(Random& random) {
  tw_combine_problem p;
  tw_combine_init(&p, nullptr);
  p.tokens = between(random, 1, 200), p.columns = between(random, 1, 100) * 16;
  p.k = between(random, 1, 8), p.rows = p.tokens * p.k;
  std::vector<std::int32_t> places(static_cast<size_t>(p.rows));
  for (std::int32_t& place : places) place = between(random, 0, static_cast<int>(p.rows) - 1);
  p.places = on_device(places);
  p.weights = static_cast<const float*>(scales_memory(places.size()));
  p.source = {random_memory(static_cast<size_t>(p.rows * p.columns) * 2, random(), false),
              p.columns, 1, 0, TW_BF16};
  p.output = {nullptr, p.columns, 1, 0, TW_BF16};
  return {[p](void* output, void* workspace, cudaStream_t stream) mutable {
            const tw_combine_options options = options_of();
            p.output.data = output;
            return tw_combine(&p, &options, workspace, workspace_bytes, stream);
          },
          static_cast<size_t>(p.tokens * p.columns) * 2};
}

struct NamedFamily {
  const char* name;
  Case (*make)(Random&);
};
// All that a Hopper GPU has kernels of: block_scaled wants sm_100a.
constexpr NamedFamily all_families[] = {{"matmul", matmul},
                                        {"conv2d", conv2d},
                                        {"blockwise", blockwise},
                                        {"grouped", grouped},
                                        {"quantise", quantise},
                                        {"long_sums", long_sums},
                                        {"attention", attention},
                                        {"rms_norm", rms_norm},
                                        {"rotary", rotary},
                                        {"requantised", requantised},
                                        {"block_quantise", block_quantise},
                                        {"block_dequantise", block_dequantise},
                                        {"pack_weights", pack_weights},
                                        {"four_bit", four_bit},
                                        {"route", route},
                                        {"combine", combine}};

// 120 problems that the library takes, of the families named or of all, with what each gives.
std::vector<Case> make_cases(unsigned seed, const std::vector<std::string>& names, int& refused) {
  Random random(seed);
  for (const std::string& name : names) {
    const auto is_it = [&](const NamedFamily& family) { return name == family.name; };
    if (std::any_of(std::begin(all_families), std::end(all_families), is_it)) continue;
    std::fprintf(stderr, "There is no family '%s' here; there are", name.c_str());
    for (const NamedFamily& family : all_families) std::fprintf(stderr, " %s", family.name);
    std::fprintf(stderr, ".\n");
    std::exit(2);
  }
  std::vector<NamedFamily> families;
  for (const NamedFamily& family : all_families) {
    if (names.empty() || std::find(names.begin(), names.end(), family.name) != names.end()) {
      families.push_back(family);
    }
  }
  void* const workspace = device_memory(workspace_bytes);
  std::vector<Case> cases;
  std::map<std::string, int> counts;
  while (cases.size() < 120) {
    const NamedFamily& family = families[random() % families.size()];
    Case made = family.make(random);
    made.expected = device_memory(made.bytes);
    must(cudaMemset(made.expected, 0xff, pieces_of(made.bytes) * 16), "cudaMemset");
    must(cudaDeviceSynchronize(), "filling");
    if (made.call(made.expected, workspace, nullptr) != TW_OK) {
      if (refused++ < 5) std::printf("refused: %s\n", tw_message());
      continue;
    }
    must(cudaDeviceSynchronize(), "a first run");
    cases.push_back(std::move(made));
    counts[family.name]++;
  }
  for (const auto& [name, count] : counts) std::printf("%s %d, ", name.c_str(), count);
  std::printf("refused %d\n", refused);
  return cases;
}

struct Shared {
  std::vector<Case> cases;
  std::atomic<long> calls_left, graphs_left;
  std::atomic<long> done{0}, failed{0};
  unsigned long long* differences;
};

void soak(Shared& shared, unsigned seed) {
  constexpr int calls_in_graph = 250;
  Random random(seed);
  size_t most = 0;
  for (const Case& each : shared.cases) most = std::max(most, each.bytes);
  struct Lane {
    cudaStream_t stream;
    void *output, *workspace;
    cudaGraphExec_t graph;
  } lanes[2];
  const auto enqueue = [&](Lane& lane) {
    Case& chosen = shared.cases[random() % shared.cases.size()];
    Case each = chosen;  // its call states the output
    if (each.call(lane.output, lane.workspace, lane.stream) != TW_OK) {
      shared.failed++;
      std::fprintf(stderr, "%s\n", tw_message());
    }
    const size_t pieces = pieces_of(each.bytes);
    const auto ctas = static_cast<unsigned>(std::min<size_t>(16, pieces / 256 + 1));
    compare<<<ctas, 256, 0, lane.stream>>>(static_cast<uint4*>(lane.output),
                                           static_cast<const uint4*>(each.expected), pieces,
                                           shared.differences);
  };
  for (Lane& lane : lanes) {
    must(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    lane.output = device_memory(most);
    must(cudaMemset(lane.output, 0xff, pieces_of(most) * 16), "cudaMemset");
    lane.workspace = device_memory(workspace_bytes);
  }
  must(cudaDeviceSynchronize(), "set-up");
  for (long i = 0; shared.calls_left.fetch_sub(1) > 0; ++i, shared.done++) {
    Lane& lane = lanes[i % 2];
    enqueue(lane);
    if (i % 512 > 509) must(cudaStreamSynchronize(lane.stream), "calls");
  }
  for (Lane& lane : lanes) {
    cudaGraph_t captured;
    must(cudaStreamBeginCapture(lane.stream, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < calls_in_graph; ++i) enqueue(lane);
    must(cudaStreamEndCapture(lane.stream, &captured), "capture");
    must(cudaGraphInstantiate(&lane.graph, captured, 0), "a graph");
  }
  for (long i = 0; shared.graphs_left.fetch_sub(calls_in_graph) > 0; ++i) {
    Lane& lane = lanes[i % 2];
    must(cudaGraphLaunch(lane.graph, lane.stream), "a graph");
    if (i % 16 > 13) must(cudaStreamSynchronize(lane.stream), "graphs");
    shared.done += calls_in_graph;
  }
  must(cudaDeviceSynchronize(), "the end");
}

}  // namespace

int main(int count, char** words) {
  const long calls = count > 1 ? std::atol(words[1]) : 100000;
  const long in_graphs = count > 2 ? std::atol(words[2]) : 1000000;
  const unsigned seed = count > 3 ? static_cast<unsigned>(std::atoi(words[3])) : 1;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string> names(words + std::min(count, 4), words + count);
  int refused = 0;
  Shared shared{make_cases(seed, names, refused), {calls}, {in_graphs}};
  must(cudaMallocManaged(&shared.differences, 8), "cudaMallocManaged");
  *shared.differences = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back([&, i] { soak(shared, seed * 31 + i); });
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf(
      "seed %u: %ld launches (%ld by calls) of %zu problems, %d refused when made, "
      "%ld failed, %llu words differ, %.1f s\n",
      seed, shared.done.load(), calls, shared.cases.size(), refused, shared.failed.load(),
      *shared.differences, seconds.count());
  return *shared.differences != 0 || shared.failed != 0;
}
