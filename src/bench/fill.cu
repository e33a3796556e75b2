#include "src/bench/fill.h"

namespace tw::bench {

namespace {

// Standard normal by Box and Muller from a counter, so that every element is independent of the
// grid.
__global__ void fill_normal_kernel(Bf16* values, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    std::uint64_t bits = ((seed << 36) + i) * 0x9E3779B97F4A7C15ull;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ull;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBull;
    bits ^= bits >> 31;
    const float radius =
        sqrtf(-2.0f * logf((static_cast<float>(bits & 0xffffff) + 1.0f) / 16777217.0f));
    values[i] = Bf16(radius * cospif(2.0f * static_cast<float>(bits >> 40) / 16777216.0f));
  }
}

}  // namespace

void fill_normal(Bf16* values, std::size_t count, std::uint64_t seed) {
  fill_normal_kernel<<<1024, 256>>>(values, count, seed);
}

}  // namespace tw::bench
