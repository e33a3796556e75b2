// m_end: groups lie one below the other in A and D, and begin and end anywhere. The last tile of a
// group covers rows of the next, which another CTA stores at the same time: it must leave them
// alone. Behind the last group are rows that nobody owns. (The fragment loop by itself, with known
// sums: tests/epilogue, `group_ends`. Here are the whole kernel, one group after the other, and
// every page's store.)
#include <limits>

#include "src/verify/compare.h"
#include "tests/hooks/schedules.h"
#include "tilewright/arch/sm100.h"
#include "tilewright/arch/sm80.h"
#include "tilewright/arch/sm90.h"

namespace tw::hooks {
namespace {

using test::clean;

constexpr int group_rows = 72, groups = 3, unowned_rows = 20, columns = 64, k = 96;
constexpr int rows = groups * group_rows + unowned_rows;

// Matrix g of the batch is group g: B and the rows of A are its own, D is one matrix for all.
template <class Page, class Named, bool forgets_the_end>
struct Groups : Matmul<Page, Named> {
  using Base = Matmul<Page, Named>;
  static TileOrigin place(const WorkTile& tile, unsigned group) {
    const TileOrigin in_group = Base::place(tile, group);
    const int first = tile.batch * group_rows;
    return {0, first + in_group.row, in_group.column, forgets_the_end ? rows : first + tile.m_end};
  }
};

template <class Kernel>
std::int64_t run_groups(const vgpu::Options& options, vgpu::Report& report) {
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  MatmulShape whole;
  whole.m = rows;
  whole.n = columns;
  whole.k = k;
  MatmulShape stacked = whole;  // the loader's view: a group is a matrix of a batch
  stacked.m = group_rows;
  stacked.batch = groups;
  MatmulData data = make_matmul_data(stacked, Fill::Integers, options.seed);
  MatmulData output = make_matmul_data(whole, Fill::Integers, options.seed);
  MatmulProblem problem = problem_on_host(data, stacked);
  MatmulProblem target = problem_on_host(output, whole);

  typename Skeleton::Params params, of_target;
  MatmulGrid grid = {}, unused = {};
  Status status = plan<Kernel>(params, grid, problem, {}, groups, {}, encode_for_virtual);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  // A last tile that reached back would cover no row of the next group.
  params.schedule.last_row = params.schedule.last_column = std::numeric_limits<int>::max();
  status = plan<Kernel>(of_target, unused, target, {}, groups, {}, encode_for_virtual);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  params.epilogue = of_target.epilogue;

  TouchedMemory inputs(problem), outputs(target);
  std::vector<vgpu::GlobalRange> memory = inputs.ranges();
  memory.insert(memory.end(), outputs.ranges().begin(), outputs.ranges().end());
  report = vgpu::run({grid.ctas, Kernel::config.tiling.cluster.size(), Skeleton::threads,
                      sizeof(typename Skeleton::Storage), [&params] { Skeleton::run(params); }},
                     memory, options);
  std::int64_t wrong = output.d.padding_touched();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int group = row / group_rows;
      if (group == groups) {
        const std::size_t at = output.d.index(0, row, column);
        const void* element = output.d.element(at);
        wrong += read_bits(output.d.type, element) != poison_bits(output.d.type, at);
        continue;
      }
      double sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += data.a.at(group, row % group_rows, i) * data.b.at(group, column, i);
      }
      wrong += output.d.at(0, row, column) != rounded_to(ElementType::Bf16, sum);
    }
  }
  return wrong;
}

struct Hopper {
  using Page = Sm90;
  static constexpr MatmulConfig config = {.tiling = {.m = 64, .n = 64}, .multiply_groups = 1};
};
struct Ampere {
  using Page = Sm80;
  static constexpr MatmulConfig config = {.tiling = {.m = 64, .n = 64}, .multiply_groups = 1};
};
struct Blackwell {
  using Page = Sm100;
  static constexpr MatmulConfig config = {.tiling = {.m = 128, .n = 64}, .multiply_groups = 1};
};

template <class Named>
class HookGroups : public ::testing::Test {};
using Pages = ::testing::Types<Ampere, Hopper, Blackwell>;
TYPED_TEST_SUITE(HookGroups, Pages);

TYPED_TEST(HookGroups, LeaveTheRowsOfTheNextAlone) {
  using Kernel = Groups<typename TypeParam::Page, TypeParam, false>;
  under_every_schedule([](const vgpu::Options& options) {
    vgpu::Report report;
    const std::int64_t wrong = run_groups<Kernel>(options, report);
    ASSERT_TRUE(clean(report));
    ASSERT_EQ(wrong, 0);
  });
}

// With the matrix' end in place of the group's, sums of rows that the loader filled with zeros land
// behind the last group always, and on the next group whenever that one was stored before.
TYPED_TEST(HookGroups, TheEndOfTheMatrixIsTooFar) {
  using Kernel = Groups<typename TypeParam::Page, TypeParam, true>;
  under_every_schedule([](const vgpu::Options& options) {
    vgpu::Report report;
    ASSERT_GE(run_groups<Kernel>(options, report), unowned_rows * columns);
  });
}

}  // namespace
}  // namespace tw::hooks
