// Three warpgroups share a tile, and a role of its own brings C to each of them. A finding names
// the group that it is about.
#include <gtest/gtest.h>

#include <set>

#include "src/verify/compare.h"
#include "tests/vgpu/support.h"
#include "tilewright/arch/sm90.h"
#include "tilewright/bind/recipe.h"
#include "vgpu/simulate.h"

namespace tw {
namespace {

struct Named {
  static constexpr MatmulConfig config = {
      .tiling = {.m = 192, .n = 64}, .multiply_groups = 3, .c_stages = 2};
};
using Product = Matmul<Sm90, Named>;
static_assert(kernel::WarpSpecialized<Product>::storing_groups == 3);

MatmulShape with_source(std::int64_t m) {
  return {.m = m, .n = 72, .k = 136, .epilogue = {.beta = 1.0f}};
}

TEST(ThreeGroups, EachGetsItsRowsOfC) {
  for (const std::int64_t m : {192, 250, 400}) {
    for (const vgpu::Landing landing : test::every_landing) {
      const MatmulShape shape = with_source(m);
      MatmulData data = make_matmul_data(shape, Fill::Integers, 3);
      const MatmulReference reference = reference_on_host(data, shape);
      vgpu::Options options;
      options.landing = landing;
      options.sm_count = 2;
      const vgpu::Report report = simulate<Product>(problem_on_host(data, shape), options);
      ASSERT_TRUE(test::clean(report)) << name_of(landing) << ", m = " << m;
      const Comparison comparison = compare(data, reference);
      ASSERT_TRUE(comparison.good() && comparison.exact) << comparison.complaint();
    }
  }
}

// The machine is told of the rows of D that the first two groups write, and not of the third's.
TEST(ThreeGroups, TheThirdHasANameInAFinding) {
  const MatmulShape shape = with_source(192);
  MatmulData data = make_matmul_data(shape, Fill::Integers, 3);
  const MatmulProblem problem = problem_on_host(data, shape);
  std::vector<vgpu::GlobalRange> ranges = TouchedMemory(problem).ranges();
  for (vgpu::GlobalRange& range : ranges) {
    if (range.begin == problem.d.data) {
      range.bytes = static_cast<std::size_t>(problem.d.pitch) * 128 * sizeof(Bf16);
    }
  }
  vgpu::Report report;
  const Status status = simulate_planned<Product>(
      problem, {}, {}, {}, report, TouchedMemory(ranges),
      [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
        return plan<Product>(params, grid, problem, {}, max_clusters, workspace,
                             encode_for_virtual);
      });
  ASSERT_TRUE(status.is_good()) << status.sentence();
  std::set<std::string> roles;
  for (const vgpu::Finding& finding : report.findings) roles.insert(finding.role);
  EXPECT_EQ(roles, std::set<std::string>{"multiply 2"});
}

}  // namespace
}  // namespace tw
