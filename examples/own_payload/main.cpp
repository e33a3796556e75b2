// Weighted sums of columns on the virtual GPU, over 40 schedules.
#include <vgpu/schedules.h>
#include <vgpu/simulate.h>

#include <algorithm>

#include "weighted_sums.h"

alignas(128) static Bf16 a[m * columns];
static float sums[columns], expected[columns];

int main() {
  for (unsigned i = 0; i < m * columns; ++i) {
    a[i] = Bf16(static_cast<float>(i * 7 % 11));
    expected[i % columns] += static_cast<float>(1 + i / columns % 3) * static_cast<float>(a[i]);
  }
  TensorMap map;
  const Status status =
      encode_for_virtual(map, {a, ElementType::Bf16, columns, m, 1, 2 * columns, 0, columns, rows});
  if (!status.is_good()) return std::puts(status.sentence().c_str()), 2;
  const vgpu::GlobalRange memory[] = {{a, sizeof a, "A", true, false},
                                      {sums, sizeof sums, "sums", false, true}};
  const vgpu::Launch launch = {1, 1, threads, sizeof(Shared), [&] { run(map, sums); }};
  return vgpu::check_schedules(40, [&](const auto& options, vgpu::Report& report) {
    report = vgpu::run(launch, memory, options);
    return std::equal(std::begin(sums), std::end(sums), expected);
  });
}
