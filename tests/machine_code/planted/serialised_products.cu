// A value of the accumulator is read while its product may be in flight: ptxas then waits for every
// product before it starts the next, and only says so in passing.
#include "tilewright/isa/ptx/wgmma.h"

__global__ void __launch_bounds__(128)
    serialised_products(const std::uint64_t* descriptors, int k_tiles, float* out) {
  float sum[32] = {};
  for (int k = 0; k < k_tiles; ++k) {
    tw::isa::wgmma_fence();
    tw::isa::wgmma<tw::WgmmaShape{.n = 64}>(sum, descriptors[2 * k], descriptors[2 * k + 1], true);
    tw::isa::wgmma_commit_group();
    sum[0] += 1.0f;
  }
  tw::isa::wgmma_wait_group<0>();
  TW_UNROLL
  for (unsigned i = 0; i < 32; ++i) out[32 * threadIdx.x + i] = sum[i];
}
