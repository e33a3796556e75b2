#include "src/cli/demo_bug.h"

#include <vector>

#define RELEASED_EARLY
#include "column_sums.h"
#include "vgpu/simulate.h"

namespace tw::cli {

vgpu::Report run_ring_released_early() {
  constexpr int m = 600, n = 64;
  alignas(128) static Bf16 a[m * n];
  for (int i = 0; i < m * n; ++i) a[i] = Bf16(static_cast<float>(i * 7 % 11 - 4));
  std::vector<float> sums(n);
  ColumnSums::Params params = {{}, sums.data(), m, n};
  const Status status = encode_for_virtual(params.a, {.base = a,
                                                      .type = ElementType::Bf16,
                                                      .inner = n,
                                                      .outer = m,
                                                      .pitch_bytes = n * 2,
                                                      .box_inner = ColumnSums::columns,
                                                      .box_outer = ColumnSums::rows});
  if (!status.is_good()) return {};
  vgpu::Options options;
  options.landing = vgpu::Landing::Eager;
  const vgpu::GlobalRange memory[] = {{a, sizeof a, "A", true, false},
                                      {sums.data(), n * sizeof(float), "sums", false, true}};
  return simulate<ColumnSums>(params, 1, memory, options);
}

}  // namespace tw::cli
