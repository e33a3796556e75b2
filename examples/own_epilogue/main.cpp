// The same epilogue on Hopper's and on Blackwell's kernel, on the virtual GPU, 20 schedules each.
#include <tilewright/arch/sm100.h>
#include <tilewright/arch/sm90.h>
#include <vgpu/schedules.h>
#include <vgpu/simulate.h>

#include <cmath>

#include "signed_clamp.h"

constexpr int m = 300, n = 200, k = 128;
alignas(128) static tw::Bf16 a[m * k], b[n * k], d[m * n];
static float bias[n], scale[n];
static std::uint8_t signs[m * n];

template <class Target>
bool is_right(const tw::vgpu::Options& options, tw::vgpu::Report& report) {
  using Kernel = SignedClampKernel<Target>;
  tw::MatmulProblem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a, k, 0, tw::ElementType::Bf16, tw::Major::K};
  problem.b = {b, k, 0, tw::ElementType::Bf16, tw::Major::K};
  problem.d = {d, n, 0, tw::ElementType::Bf16};
  tw::TouchedMemory touched(problem);
  touched.add({bias, sizeof bias, "bias", true, false});
  touched.add({scale, sizeof scale, "scale", true, false});
  touched.add({signs, sizeof signs, "signs", false, true});
  const tw::Status status = tw::simulate_planned<Kernel>(
      problem, {}, {}, options, report, touched,
      [&](auto& params, tw::MatmulGrid& grid, unsigned clusters, const tw::Workspace& workspace) {
        // Of the outermost node first: signs, then the clamp's bounds, alpha, the bias, the scale.
        params.epilogue.epilogue = {signs, n, {{{-8, 8}, {{0.5f, {}}, {bias}}}, {scale}}};
        return tw::plan<Kernel>(params, grid, problem, {}, clusters, workspace,
                                tw::encode_for_virtual);
      });
  if (!status.is_good()) return std::puts(status.sentence().c_str()), false;
  int wrong = 0;
  for (int i = 0; i < m * n; ++i) {
    float sum = 0;
    for (int l = 0; l < k; ++l) {
      sum += static_cast<float>(a[i / n * k + l]) * static_cast<float>(b[i % n * k + l]);
    }
    const float value = std::fmin(std::fmax(0.5f * sum + bias[i % n], -8), 8) * scale[i % n];
    wrong += static_cast<float>(d[i]) != value || signs[i] != (value < 0);
  }
  return wrong == 0;
}

int main() {
  for (int i = 0; i < m * k; ++i) a[i] = tw::Bf16(static_cast<float>(i * 7 % 5 - 2));
  for (int i = 0; i < n * k; ++i) b[i] = tw::Bf16(static_cast<float>(i * 11 % 3 - 1));
  for (int i = 0; i < n; ++i) bias[i] = static_cast<float>(i % 9 - 4), scale[i] = 1 << i % 3;
  return tw::vgpu::check_schedules(20, is_right<tw::Sm90>) |
         tw::vgpu::check_schedules(20, is_right<tw::Sm100>);
}
