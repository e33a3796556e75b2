// A kernel of one's own on the virtual GPU, over 40 schedules.
#include <vgpu/schedules.h>
#include <vgpu/simulate.h>

#include <vector>

#include "column_sums.h"

constexpr int m = 600, n = 200;
alignas(128) static tw::Bf16 a[m * n];

int main() {
  for (int i = 0; i < m * n; ++i) a[i] = tw::Bf16(static_cast<float>(i * 7 % 11 - 4));
  std::vector<float> sums(n), expected(n);
  for (int i = 0; i < m * n; ++i) expected[i % n] += static_cast<float>(a[i]);

  ColumnSums::Params params = {{}, sums.data(), m, n};
  const tw::Status status = tw::encode_for_virtual(params.a, {.base = a,
                                                              .type = tw::ElementType::Bf16,
                                                              .inner = n,
                                                              .outer = m,
                                                              .pitch_bytes = n * 2,
                                                              .box_inner = ColumnSums::columns,
                                                              .box_outer = ColumnSums::rows});
  if (!status.is_good()) return std::puts(status.sentence().c_str()), 2;
  const tw::vgpu::GlobalRange memory[] = {{a, sizeof a, "A", true, false},
                                          {sums.data(), n * sizeof(float), "sums", false, true}};
  return tw::vgpu::check_schedules(40,
                                   [&](const tw::vgpu::Options& options, tw::vgpu::Report& report) {
                                     std::fill(sums.begin(), sums.end(), -1.0f);
                                     report = tw::simulate<ColumnSums>(params, 2, memory, options);
                                     return sums == expected;
                                   });
}
