// A family of one's own: D = epilogue(A' B), where row i of A' is row (i + shift) mod m of A.
// The problem, the kernel, how it is launched, the description, what tests need: one file.
//   own_family run rotated --m 300 --shift 7 --epilogue bias,relu
//   own_family check rotated --arch sm100a
//   own_family fuzz --minutes 1
#include <tilewright/arch/sm100.h>
#include <tilewright/arch/sm80.h>
#include <tilewright/arch/sm90.h>
#include <tilewright/bind/recipe.h>
#include <tilewright/bind/thread_recipe.h>
#include <tilewright/io/async_copy.h>
#include <tilewright/io/thread_loader.h>
#ifdef __CUDACC__
#include <tilewright/bind/kernel.h>
#include <tilewright/kernel/entry.h>
#else
#include <tilewright/command_line.h>
#include <tilewright/launch/more_fields.h>
#include <tilewright/launch/product_fields.h>
#include <tilewright/plugin.h>
#endif

// What differs from a matmul: which row of A a loading thread brings.
template <tw::Tiling tiling, unsigned warps, tw::Completion how>
struct RotatedLoader : tw::ThreadLoader<tiling, tw::AsyncCopy, warps, how> {
  using Base = tw::ThreadLoader<tiling, tw::AsyncCopy, warps, how>;
  struct Params : Base::Params {
    int shift = 0;
  };
  TW_DEVICE RotatedLoader(const Params& params, unsigned thread) : Base(params, thread) {}

  template <tw::StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const Params& params = static_cast<const Params&>(this->params_);
    this->load_rows(stage, tile, k, [&](int row) {
      const int rows = params.a.rows, from = row + params.shift;
      return row >= rows ? rows : from < rows ? from : from - rows;
    });
  }
};
struct RotatedRecipe : tw::ThreadRecipe<tw::MatmulRecipe, RotatedLoader> {
#ifdef UNFENCED  // the tensor core reads through the async proxy what threads wrote
  template <class Target, tw::Tiling tiling, tw::RoleTable table>
  using Loader = RotatedLoader<tiling, table.load.warps, tw::Completion::WarpsArrive>;
#endif
};

// The compiled kernels have a target and a configuration each.
struct Wide {
  static constexpr tw::MatmulConfig config = {.tiling = {.n = 128}};
};
struct Narrow {
  static constexpr tw::MatmulConfig config = {.tiling = {.m = 64, .n = 64}, .multiply_groups = 1};
};
struct OneGroup {
  static constexpr tw::MatmulConfig config = {.tiling = {.n = 128}, .multiply_groups = 1};
};

#ifdef __CUDACC__  // the kernel alone, for a GPU: tilewright_kernel_image compiles it
using OnHopper = tw::kernel::WarpSpecialized<tw::Kernel<tw::Sm90, RotatedRecipe, Wide>>;
template __global__ void tw::kernel::entry<OnHopper>(const __grid_constant__ OnHopper::Params);
#else

// What a caller states.
struct RotatedProblem {
  std::size_t size;
  std::uint64_t family;
  tw_matmul_problem matmul;
  std::int64_t shift;
};

// A launch is matmul's, and the shift.
struct RotatedLaunch {
  template <class Kernel>
  static constexpr tw::ProductFacts facts = tw::facts_of<Kernel>;
  static tw::MatmulProblem product(const tw::Checked& problem) { return problem.product(); }
  template <class Kernel, class Encode>
  static tw::Status plan(typename tw::kernel::WarpSpecialized<Kernel>::Params& params,
                         tw::MatmulGrid& grid, const tw::Checked& problem,
                         const tw::LaunchOrder& order, unsigned max_clusters,
                         const tw::Workspace& workspace, const Encode& encode) {
    params.loader.shift = static_cast<int>(problem.as<RotatedProblem>().shift);
    return tw::plan<Kernel>(params, grid, product(problem), order, max_clusters, workspace, encode);
  }
};

template <class Target, class Named, const auto&... image>
tw::Instance instance(const char* name) {
  using Kernel = tw::Kernel<Target, RotatedRecipe, Named>;
  return tw::warp_specialized_instance<RotatedLaunch, Kernel, image...>(name);
}
#ifdef WITH_IMAGE
extern "C" const unsigned char tw_image_rotated_hopper[];
const tw::Instance hopper = instance<tw::Sm90, Wide, tw_image_rotated_hopper>("rotated_hopper");
#else
const tw::Instance hopper = instance<tw::Sm90, Wide>("rotated_hopper");
#endif

struct Rotated : tw::UsualTrial {
  using Problem = RotatedProblem;
  using Product = tw::ProductFields<&Problem::matmul>;

  // The description: checks and their sentences, options, memory and smaller problems follow.
  static constexpr tw::IntegerField numbers[] = {
      tw::number<&Problem::matmul, &tw_matmul_problem::m>("m",
                                                          {.meaning = "rows of A", .usual = 200}),
      Product::n, Product::k,
      tw::derived<&Problem::matmul, &tw_matmul_problem::batch>("batch", {.usual = 1, .initial = 1}),
      tw::number<&Problem::shift>("shift", {.meaning = "row 0 of D is made of it", .usual = 3})};
  static constexpr tw::Rule rules[] = {
      tw::rule([](const Problem& p) { return p.matmul.m == 0 || p.shift < p.matmul.m; },
               [](const Problem& p) {
                 return tw::sentence("shift = {} must be below m = {}.", p.shift, p.matmul.m);
               })};
  static constexpr tw::TensorField tensors[] = {
      Product::a([](const Problem& p) {
        return tw::TensorExtents{1, p.matmul.m, p.matmul.k};
      }),
      Product::b([](const Problem& p) {
        return tw::TensorExtents{1, p.matmul.k, p.matmul.n};
      }),
      Product::d([](const Problem& p) {
        return tw::TensorExtents{1, p.matmul.m, Product::output_columns(p)};
      })};
  static constexpr tw::ProductField product = Product::product(0, 1, 2, [](const Problem& p) {
    return tw::TensorExtents{1, p.matmul.m, p.matmul.n};
  });
  static constexpr tw::Description description = {"rotated",
                                                  "a product with A's rows rotated",
                                                  "computes this product",
                                                  sizeof(Problem),
                                                  numbers,
                                                  {},
                                                  rules,
                                                  tensors,
                                                  &product};

  static std::span<const tw::Instance> instances() {
    static const tw::Instance all[] = {hopper, instance<tw::Sm80, Narrow>("rotated_ampere"),
                                       instance<tw::Sm100, OneGroup>("rotated_blackwell")};
    return all;
  }
  // Any problem, for the fuzzer; epilogues, data and strides are drawn by the description.
  static void random(tw::Case& made, tw::Random& random) {
    Problem& problem = made.as<Problem>();
    problem.matmul.m = tw::between(random, 1, 300);
    problem.matmul.n = tw::between(random, 1, 200);
    problem.matmul.k = tw::between(random, 1, 200);
    problem.shift = tw::between(random, 0, problem.matmul.m - 1);
  }
  // The definition: the plain product of these A and B has the right sums.
  static void as_product(tw::MatmulData& data, const Problem& problem) {
    data.a.fill([&, a = data.a](auto batch, auto row, auto column) {
      return a.at(batch, (row + problem.shift) % problem.matmul.m, column);
    });
  }
};

#ifdef AS_PLUGIN
TW_PLUGIN_FAMILIES(Rotated)
#else
int main(int argc, char** argv) { return tw::command_line<Rotated>(argc, argv); }
#endif
#endif
