// The skeleton runs another program than a matmul's: exact and clean on every schedule, and a bug
// in it is found under the program's own names.
#include <gtest/gtest.h>

#include "src/verify/compare.h"
#include "tests/programs/two_products_case.h"
#include "tests/vgpu/support.h"
#include "tilewright/arch/sm80.h"
#include "tilewright/arch/sm90.h"
#include "vgpu/simulate.h"

namespace tw::programs {
namespace {

template <class Kernel>
vgpu::Report run(Case& data, const vgpu::Options& options) {
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  const MatmulProblem first = problem_on_host(data.first, data.shape);
  const MatmulProblem second = problem_on_host(data.second, data.shape);
  typename Skeleton::Params params;
  MatmulGrid grid = {};
  const Status status = plan_two<Kernel>(params, grid, first, second, 4, encode_for_virtual);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  TouchedMemory touched(first);
  touched.operand(second.a, second.m, second.k, "C");
  touched.operand(second.b, second.n, second.k, "E");
  return vgpu::run({grid.ctas, Kernel::config.tiling.cluster.size(), Skeleton::threads,
                    sizeof(typename Skeleton::Storage), [&params] { Skeleton::run(params); }, 32,
                    Kernel::dependent_launch},
                   touched.ranges(), options);
}

template <class Page>
class TwoProductsTest : public ::testing::Test {};
using Pages = ::testing::Types<Sm80, Sm90>;
TYPED_TEST_SUITE(TwoProductsTest, Pages);

TYPED_TEST(TwoProductsTest, IsExactAndCleanOn200Schedules) {
  for (const vgpu::Landing landing : test::every_landing) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      Case data(60 + static_cast<int>(seed), 40, 64 * 4 + 8, seed);
      vgpu::Options options;
      options.landing = landing;
      options.seed = seed;
      const vgpu::Report report = run<Kernel<TypeParam, TwoProductsRecipe<>, Tile>>(data, options);
      ASSERT_TRUE(test::clean(report)) << name_of(landing) << ", seed " << seed;
      ASSERT_EQ(data.wrong(), 0) << name_of(landing) << ", seed " << seed;
    }
  }
}

// wgmma still reads a stage of the second ring when multiply() returns.
TEST(TwoProducts, AStageThatIsLetGoEarlyIsNamedByTheProgramsRole) {
  bool named = false;
  for (const vgpu::Landing landing : test::every_landing) {
    Case data(64, 64, 64 * 8, 1);
    vgpu::Options options;
    options.landing = landing;
    const vgpu::Report report = run<Kernel<Sm90, TwoProductsRecipe<true>, Tile>>(data, options);
    for (const vgpu::Finding& finding : report.findings) {
      named = named || (finding.checker == vgpu::Checker::OverwriteWhileRead &&
                        finding.role == "load second");
    }
  }
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace tw::programs
