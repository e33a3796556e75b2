#include "vgpu/data/wgmma.h"

#include <algorithm>

#include "tilewright/base/require.h"
#include "vgpu/data/wgmma_operands.h"

namespace tw::vgpu {
namespace {

// sums += a b over one row. The compiler unrolls k and vectorises the columns, so every column
// still adds in order of k.
void add_row_product(float* __restrict sums, const float* __restrict a,
                     const float (*__restrict b)[wgmma_max_n], unsigned n) {
  for (unsigned column = 0; column < n; ++column) {
    float sum = sums[column];
    for (unsigned k = 0; k < wgmma_k; ++k) sum += a[k] * b[k][column];
    sums[column] = sum;
  }
}

}  // namespace

void require_wgmma_n(unsigned n) {
  require(n >= 8 && n <= wgmma_max_n && n % 8 == 0, "wgmma: n must be a multiple of 8 up to 256.");
}

void wgmma_bf16_m64k16(float* const fragments[128], unsigned n, const WgmmaOperands& operands,
                       bool accumulate) {
  require_wgmma_n(n);
  float a[wgmma_m][wgmma_k];
  float b[wgmma_k][wgmma_max_n];  // columns contiguous, for the vector loop
  for_each_a_element(
      operands, [&](unsigned m, unsigned k, std::uint32_t bits) { a[m][k] = bf16_value(bits); });
  for_each_chunk_element(
      operands.b_chunks, n,
      [&](unsigned column, unsigned k, std::uint32_t bits) { b[k][column] = bf16_value(bits); });
  for (unsigned m = 0; m < wgmma_m; ++m) {
    float sums[wgmma_max_n];
    if (accumulate) {
      for_each_row_pair(fragments, m, n, [&](unsigned column, const float* pair) {
        std::memcpy(&sums[column], pair, 2 * sizeof(float));
      });
    } else {
      std::fill_n(sums, n, 0.0f);
    }
    add_row_product(sums, a[m], b, n);
    for_each_row_pair(fragments, m, n, [&](unsigned column, float* pair) {
      std::memcpy(pair, &sums[column], 2 * sizeof(float));
    });
  }
}

}  // namespace tw::vgpu
