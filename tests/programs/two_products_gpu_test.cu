// The same program on a GPU: both pages, exact.
#include <gtest/gtest.h>

#include "tests/gpu/on_device.h"
#include "tests/programs/two_products_case.h"
#include "tilewright/arch/sm80.h"
#include "tilewright/arch/sm90.h"
#include "tilewright/kernel/entry.h"
#include "tilewright/launch/cuda.h"

namespace tw::programs {
namespace {

template <class Kernel>
void expect_exact(int m, int n, int k, std::uint64_t seed) {
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  using Target = typename Kernel::Target;
  static CudaKernel entry(
      reinterpret_cast<const void*>(&kernel::entry<Skeleton>),
      {Kernel::config.tiling.cluster.size(), Kernel::in_clusters, Target::target.capability_begin,
       Target::target.capability_end, Skeleton::threads, sizeof(typename Skeleton::Storage),
       Kernel::dependent_launch});
  Case data(m, n, k, seed);
  tests::OnDevice first(data.first), second(data.second);
  MatmulProblem one = problem_on_host(data.first, data.shape);
  MatmulProblem two = problem_on_host(data.second, data.shape);
  one.a.data = first.address(data.first.a);
  one.b.data = first.address(data.first.b);
  one.d.data = first.address(data.first.d);
  two.a.data = second.address(data.second.a);
  two.b.data = second.address(data.second.b);
  unsigned clusters = 0;
  const Status asked = entry.max_active_clusters(clusters);
  ASSERT_TRUE(asked.is_good()) << asked.sentence();
  typename Skeleton::Params params;
  MatmulGrid grid = {};
  const Status planned = plan_two<Kernel>(params, grid, one, two, clusters, encode_for_cuda);
  ASSERT_TRUE(planned.is_good()) << planned.sentence();
  const Status launched = entry.launch(params, grid.ctas, nullptr);
  ASSERT_TRUE(launched.is_good()) << launched.sentence();
  tests::wait_or_exit("two products");
  first.read_outputs();
  EXPECT_EQ(data.wrong(), 0) << m << " x " << n << " x " << k;
}

class TwoProductsGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      GTEST_SKIP() << "There is no NVIDIA GPU here.";
    }
    if (!tests::runs_here("sm90a")) GTEST_SKIP() << "This test is compiled for sm_90a.";
  }
};

TEST_F(TwoProductsGpu, IsExactByTmaAndWgmma) {
  for (int i = 0; i < 20; ++i) {
    expect_exact<Kernel<Sm90, TwoProductsRecipe<>, Tile>>(64 + 37 * i, 128 + 24 * i, 8 + 72 * i,
                                                          static_cast<std::uint64_t>(i));
  }
}
TEST_F(TwoProductsGpu, IsExactByThreadsAndMmaSync) {
  for (int i = 0; i < 20; ++i) {
    expect_exact<Kernel<Sm80, TwoProductsRecipe<>, Tile>>(64 + 37 * i, 128 + 24 * i, 8 + 72 * i,
                                                          static_cast<std::uint64_t>(i));
  }
}

}  // namespace
}  // namespace tw::programs
