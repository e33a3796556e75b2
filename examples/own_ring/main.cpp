// A kernel of one's own on the virtual GPU, over 40 schedules.
#include <vgpu/simulate.h>

#include <cstdio>
#include <vector>

#include "column_sums.h"

int main() {
  constexpr int m = 600, n = 200;
  alignas(128) static tw::Bf16 a[m * n];
  for (int i = 0; i < m * n; ++i) a[i] = tw::Bf16(static_cast<float>(i * 7 % 11 - 4));
  int clean = 0, all = 0;
  for (const tw::vgpu::Landing landing :
       {tw::vgpu::Landing::Eager, tw::vgpu::Landing::Lazy, tw::vgpu::Landing::Random,
        tw::vgpu::Landing::Adversarial}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed, ++all) {
      std::vector<float> sums(n);
      ColumnSums::Params params = {{}, sums.data(), m, n};
      const tw::Status status = tw::encode_for_virtual(params.a, {.base = a,
                                                                  .type = tw::ElementType::Bf16,
                                                                  .inner = n,
                                                                  .outer = m,
                                                                  .pitch_bytes = n * 2,
                                                                  .box_inner = ColumnSums::columns,
                                                                  .box_outer = ColumnSums::rows});
      if (!status.is_good()) return std::puts(status.sentence().c_str()), 2;
      tw::vgpu::Options options;
      options.landing = landing;
      options.seed = seed;
      const tw::vgpu::GlobalRange memory[] = {
          {a, sizeof a, "A", true, false}, {sums.data(), n * sizeof(float), "sums", false, true}};
      const tw::vgpu::Report report = tw::simulate<ColumnSums>(params, 2, memory, options);
      bool good = report.verdict() == tw::vgpu::Report::Clean;
      for (int column = 0; column < n; ++column) {
        float sum = 0;
        for (int row = 0; row < m; ++row) sum += static_cast<float>(a[row * n + column]);
        good = good && sums[column] == sum;
      }
      if (!good && clean == all && !report.findings.empty()) {
        std::printf("%s: %s\n", report.findings[0].name.c_str(), report.findings[0].text.c_str());
      }
      clean += good;
    }
  }
  std::printf("%d of %d schedules are clean and right\n", clean, all);
  return clean == all ? 0 : 1;
}
