// A node with an effect: it counts the elements of each row that it sees. Tiles at an edge reach
// back, and it sees some twice, unless it says that it must see each once.
#include "src/verify/compare.h"
#include "src/verify/reference.h"
#include "tests/hooks/schedules.h"
#include "tilewright/arch/sm80.h"
#include "tilewright/arch/sm90.h"
#include "tilewright/epilogue/tree.h"

namespace tw::hooks {
namespace {

using test::clean;

constexpr int rows = 100, columns = 144, k = 64;

template <class Of, bool must_see_once>
struct CountOfRow : node::UnaryNode<Of> {
  struct Params {
    std::uint32_t* counts;
    typename Of::Params of;
  };
  static constexpr bool once = must_see_once;
  template <class State, class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, State& state,
                                      const Fragment& fragment) {
    const auto& place = fragment.place;
    const unsigned seen = unsigned{place.first_inside()} + unsigned{place.second_inside()};
    if (seen > 0) isa::global_add_release(params.counts + place.row, seen);
    return Of::apply(params.of, state, fragment);
  }
};

template <bool must_see_once>
struct CountingRecipe : MatmulRecipe {
  // Below another node, which passes on what it must see.
  template <MatmulConfig, bool>
  using Epilogue = Tree<node::Relu<CountOfRow<node::Sum, must_see_once>>>;
};

struct Tiles {
  static constexpr MatmulConfig config = {.tiling = {.m = 64, .n = 64}, .multiply_groups = 1};
};

// How often each row was seen; D is relu(A B^T) in any case.
template <class Page, bool must_see_once>
std::vector<std::uint32_t> seen(const vgpu::Options& options) {
  using Kernel = tw::Kernel<Page, CountingRecipe<must_see_once>, Tiles>;
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  MatmulShape shape;
  shape.m = rows;
  shape.n = columns;
  shape.k = k;
  MatmulData data = make_matmul_data(shape, Fill::Integers, options.seed);
  const MatmulProblem problem = problem_on_host(data, shape);
  typename Skeleton::Params params;
  MatmulGrid grid = {};
  const Status status =
      plan<Kernel>(params, grid, problem, {}, options.sm_count, {}, encode_for_virtual);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  std::vector<std::uint32_t> counts(rows);
  params.epilogue.epilogue.of.counts = counts.data();
  TouchedMemory memory(problem);
  memory.add({counts.data(), 4 * counts.size(), "counts"});
  const vgpu::Report report =
      vgpu::run({grid.ctas, Kernel::config.tiling.cluster.size(), Skeleton::threads,
                 sizeof(typename Skeleton::Storage), [&params] { Skeleton::run(params); }},
                memory.ranges(), options);
  EXPECT_TRUE(clean(report));
  shape.epilogue.activation = Activation::Relu;
  const Comparison comparison = compare(data, reference_on_host(data, shape));
  EXPECT_TRUE(comparison.good()) << comparison.complaint();
  return counts;
}

template <class Page>
class HookOnce : public ::testing::Test {};
using Pages = ::testing::Types<Sm80, Sm90>;
TYPED_TEST_SUITE(HookOnce, Pages);

TYPED_TEST(HookOnce, EachElementIsSeenOnce) {
  under_every_schedule([](const vgpu::Options& options) {
    const std::vector<std::uint32_t> counts = seen<TypeParam, true>(options);
    ASSERT_EQ(counts, std::vector<std::uint32_t>(rows, columns));
  });
}

TYPED_TEST(HookOnce, OthersAreSeenTwiceAtAnEdge) {
  const std::vector<std::uint32_t> counts = seen<TypeParam, false>({});
  // The second tile of rows begins at 36, the third of columns at 80.
  EXPECT_EQ(counts[0], 3u * 64);
  EXPECT_EQ(counts[36], 2 * 3u * 64);
  EXPECT_EQ(counts[rows - 1], 3u * 64);
}

}  // namespace
}  // namespace tw::hooks
