// One product on seven pages, each of which replaces one alias of the page before: from copies by
// threads and products of single warps to TMA, wgmma, staged stores and tickets.
#include "pages.h"

#include <tilewright/bind/recipe.h>
#include <vgpu/schedules.h>
#include <vgpu/simulate.h>

struct Named {
  static constexpr MatmulConfig config = {.tiling = {.n = 128}, .multiply_groups = 1};
};
struct ByTickets {
  static constexpr MatmulConfig config = {
      .tiling = {.n = 128}, .multiply_groups = 1, .scheduling = Scheduling::Dynamic};
};

constexpr int m = 200, n = 160, k = 160;
alignas(128) static Bf16 a[m * k], b[n * k], d[m * n];

template <class Page, class Configured = Named>
int check(const char* step) {
  std::printf("%s: ", step);
  MatmulProblem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a, k, 0, ElementType::Bf16, Major::K};
  problem.b = {b, k, 0, ElementType::Bf16, Major::K};
  problem.d = {d, n, 0, ElementType::Bf16};
  return vgpu::check_schedules(4, [&](const vgpu::Options& options, vgpu::Report& report) {
    report = simulate<Matmul<Page, Configured>>(problem, options);
    int wrong = 0;
    for (int i = 0; i < m * n; ++i) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += float(a[i / n * k + l]) * float(b[i % n * k + l]);
      wrong += float(d[i]) != sum;
    }
    return wrong == 0;
  });
}

int main() {
  for (int i = 0; i < m * k; ++i) a[i] = Bf16(static_cast<float>(i * 7 % 5 - 2));
  for (int i = 0; i < n * k; ++i) b[i] = Bf16(static_cast<float>(i * 11 % 3 - 1));
  return check<LadderPlain>("copies by threads, mma.sync") |
         check<LadderAsyncCopy>("copies by cp.async") | check<LadderMbarrier>("mbarriers") |
         check<LadderTma>("copies by TMA") | check<LadderWgmma>("products by wgmma") |
         check<LadderTmaStore>("stores by TMA") |
         check<LadderDynamic, ByTickets>("tiles by tickets");
}
