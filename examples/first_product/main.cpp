// D = A B^T in bf16: a page for the mechanisms, a recipe, a configuration. The same kernel,
// compiled for the virtual GPU here, is a __global__ function with kernel/entry.h.
#include <tilewright/arch/sm90.h>
#include <tilewright/bind/recipe.h>
#include <vgpu/schedules.h>
#include <vgpu/simulate.h>

struct Named {  // tiles of 128 x 128; TMA brings B once for the two CTAs of a cluster
  static constexpr tw::MatmulConfig config = {.tiling = {.m = 128, .n = 128, .cluster = {2, 1}}};
};
using Product = tw::Matmul<tw::Sm90, Named>;  // TMA, wgmma, mbarriers; tw::Sm100: tcgen05

constexpr int m = 300, n = 200, k = 160;
alignas(128) static tw::Bf16 a[m * k], b[n * k], d[m * n];

int main() {
  for (int i = 0; i < m * k; ++i) a[i] = tw::Bf16(static_cast<float>(i * 7 % 5 - 2));
  for (int i = 0; i < n * k; ++i) b[i] = tw::Bf16(static_cast<float>(i * 11 % 3 - 1));
  tw::MatmulProblem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a, k, 0, tw::ElementType::Bf16, tw::Major::K};
  problem.b = {b, k, 0, tw::ElementType::Bf16, tw::Major::K};
  problem.d = {d, n, 0, tw::ElementType::Bf16};
  return tw::vgpu::check_schedules(20, [&](const auto& options, tw::vgpu::Report& report) {
    report = tw::simulate<Product>(problem, options);
    int wrong = 0;
    for (int i = 0; i < m * n; ++i) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += float(a[i / n * k + l]) * float(b[i % n * k + l]);
      wrong += float(d[i]) != sum;
    }
    return wrong == 0;
  });
}
