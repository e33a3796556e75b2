// An epilogue of one's own: D = clamp(alpha * sum + bias) * scale, and beside it a byte for each
// element that says whether it is negative. Nodes of the library and one of ours make a tree, which
// is part of the kernel.
#pragma once

#include <tilewright/epilogue/nodes.h>
#include <tilewright/epilogue/tree.h>
#include <tilewright/family/kernel.h>
#include <tilewright/family/matmul.h>

// Stores a byte beside each value, and passes the value on.
template <class Of>
struct StoreSign : tw::node::UnaryNode<Of> {
  struct Params {
    std::uint8_t* signs;
    std::int64_t pitch;
    typename Of::Params of;
  };
  template <class Fragment>
  static TW_DEVICE tw::FragmentPair apply(const Params& params, typename Of::State& state,
                                          const Fragment& fragment) {
    const tw::FragmentPair pair = Of::apply(params.of, state, fragment);
    const auto& at = fragment.place;
    std::uint8_t* const to = params.signs + at.row * params.pitch + at.column;
    const auto store = [](std::uint8_t* address, float value) {
      tw::store_element<tw::Space::Global>(address, static_cast<std::uint8_t>(value < 0));
    };
    if (at.first_inside()) store(to, pair.first);
    if (at.second_inside()) store(to + 1, pair.second);
    return pair;
  }
};

using Biased =
    tw::node::Add<tw::node::Scale<tw::node::Sum>, tw::node::ColumnBias<tw::ElementType::Fp32>>;
using SignedClamp = StoreSign<tw::node::Multiply<tw::node::Clamp<Biased>, tw::node::ColumnScale>>;

// A matmul whose epilogue is this tree.
struct SignedClampRecipe : tw::MatmulRecipe {
  template <tw::MatmulConfig config, bool elected>
  using Epilogue = tw::Tree<SignedClamp>;
};
struct SignedClampNamed {
  static constexpr tw::MatmulConfig config = {.tiling = {.n = 128, .cluster = {2, 1}},
                                              .multiply_groups = 1};
};
template <class Target>
using SignedClampKernel = tw::Kernel<Target, SignedClampRecipe, SignedClampNamed>;
