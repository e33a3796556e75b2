#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "src/bench/harness/fill.h"

namespace tw::bench {

namespace {

// Standard normal by Box and Muller from a counter, so that every element is independent of the
// grid.
template <class T>
__global__ void fill_normal_kernel(T* values, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    std::uint64_t bits = ((seed << 36) + i) * 0x9E3779B97F4A7C15ull;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ull;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBull;
    bits ^= bits >> 31;
    const float radius =
        sqrtf(-2.0f * logf((static_cast<float>(bits & 0xffffff) + 1.0f) / 16777217.0f));
    values[i] = T(radius * cospif(2.0f * static_cast<float>(bits >> 40) / 16777216.0f));
  }
}

template <class T>
void fill(void* values, std::size_t count, std::uint64_t seed) {
  fill_normal_kernel<<<1024, 256>>>(static_cast<T*>(values), count, seed);
}

}  // namespace

void fill_normal(void* values, ElementType type, std::size_t count, std::uint64_t seed) {
  switch (type) {
    case ElementType::Fp16: return fill<__half>(values, count, seed);
    case ElementType::E4m3: return fill<__nv_fp8_e4m3>(values, count, seed);
    case ElementType::E5m2: return fill<__nv_fp8_e5m2>(values, count, seed);
    default: return fill<__nv_bfloat16>(values, count, seed);
  }
}

}  // namespace tw::bench
