// An epilogue of one's own: D = clamp(alpha * sum + bias) * scale, and beside it a byte for each
// element that says whether it is negative; on Hopper's and on Blackwell's kernel, 20 schedules
// each.
#include <tilewright/arch/sm100.h>
#include <tilewright/arch/sm90.h>
#include <tilewright/epilogue/nodes.h>
#include <tilewright/epilogue/tree.h>
#include <vgpu/schedules.h>
#include <vgpu/simulate.h>
using namespace tw;

// Stores a byte beside each value, and passes the value on.
template <class Of>
struct StoreSign : node::UnaryNode<Of> {
  struct Params {
    std::uint8_t* signs;
    std::int64_t pitch;
    typename Of::Params of;
  };
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, typename Of::State& state,
                                      const Fragment& fragment) {
    const FragmentPair pair = Of::apply(params.of, state, fragment);
    const auto& at = fragment.place;
    std::uint8_t* const to = params.signs + at.row * params.pitch + at.column;
    if (at.first_inside()) store_element<Space::Global>(to, std::uint8_t{pair.first < 0});
    if (at.second_inside()) store_element<Space::Global>(to + 1, std::uint8_t{pair.second < 0});
    return pair;
  }
};
using Biased = node::Add<node::Scale<node::Sum>, node::ColumnBias<ElementType::Fp32>>;
using SignedClamp = StoreSign<node::Multiply<node::Clamp<Biased>, node::ColumnScale>>;

struct SignedClampRecipe : MatmulRecipe {  // a matmul whose epilogue is this tree
  template <MatmulConfig config, bool elected>
  using Epilogue = Tree<SignedClamp>;
};
struct Named {
  static constexpr MatmulConfig config = {.tiling = {.n = 128, .cluster = {2, 1}},
                                          .multiply_groups = 1};
};
constexpr int m = 300, n = 200, k = 128;
alignas(128) static Bf16 a[m * k], b[n * k], d[m * n];
static float bias[n], scale[n];
static std::uint8_t signs[m * n];
template <class Kernel>
bool is_right(const vgpu::Options& options, vgpu::Report& report) {
  MatmulProblem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a, k, 0, ElementType::Bf16, Major::K};
  problem.b = {b, k, 0, ElementType::Bf16, Major::K};
  problem.d = {d, n, 0, ElementType::Bf16};
  TouchedMemory touched(problem);
  touched.add({bias, sizeof bias, "bias", true, false});
  touched.add({scale, sizeof scale, "scale", true, false});
  touched.add({signs, sizeof signs, "signs", false, true});
  const Status status = simulate_planned<Kernel>(
      problem, {}, {}, options, report, touched,
      [&](auto& params, MatmulGrid& grid, unsigned clusters, const Workspace& workspace) {
        // The outermost node first: signs, then the clamp's bounds, alpha, the bias, the scale.
        params.epilogue.epilogue = {signs, n, {{{-8, 8}, {{0.5f, {}}, {bias}}}, {scale}}};
        return plan<Kernel>(params, grid, problem, {}, clusters, workspace, encode_for_virtual);
      });
  if (!status.is_good()) return std::puts(status.sentence().c_str()), false;
  for (int i = 0; i < m * n; ++i) {
    float sum = 0;
    for (int l = 0; l < k; ++l) sum += float{a[i / n * k + l]} * float{b[i % n * k + l]};
    const float value = std::clamp(0.5f * sum + bias[i % n], -8.0f, 8.0f) * scale[i % n];
    if (static_cast<float>(d[i]) != value || signs[i] != (value < 0)) return false;
  }
  return true;
}
int main() {
  for (int i = 0; i < m * k; ++i) a[i] = Bf16(static_cast<float>(i * 7 % 5 - 2));
  for (int i = 0; i < n * k; ++i) b[i] = Bf16(static_cast<float>(i * 11 % 3 - 1));
  for (int i = 0; i < n; ++i) bias[i] = static_cast<float>(i % 9 - 4), scale[i] = 1 << i % 3;
  return vgpu::check_schedules(20, is_right<Kernel<Sm90, SignedClampRecipe, Named>>) |
         vgpu::check_schedules(20, is_right<Kernel<Sm100, SignedClampRecipe, Named>>);
}
