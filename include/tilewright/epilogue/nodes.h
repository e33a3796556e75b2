// The inner nodes of an epilogue's tree: Add<Scale<Sum>, Source<ElementType::Bf16>>. leaves.h says
// what a node is.
#pragma once

#include "tilewright/epilogue/formula.h"
#include "tilewright/epilogue/leaves.h"
#include "tilewright/isa/counter.h"
#include "tilewright/isa/threads.h"

namespace tw::node {

template <class Left, class Right>
struct BinaryNode {
  struct Params {
    typename Left::Params left;
    typename Right::Params right;
  };
  struct State {
    typename Left::State left;
    typename Right::State right;
  };
  static constexpr bool gates = Left::gates || Right::gates;
  static constexpr bool once = Left::once || Right::once;
  static TW_DEVICE void finish(const Params& params, const State& state, unsigned lane) {
    Left::finish(params.left, state.left, lane);
    Right::finish(params.right, state.right, lane);
  }
};

template <class Left, class Right>
struct Add : BinaryNode<Left, Right> {
  using typename BinaryNode<Left, Right>::Params;
  using typename BinaryNode<Left, Right>::State;
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, State& state,
                                      const Fragment& fragment) {
    return Left::apply(params.left, state.left, fragment) +
           Right::apply(params.right, state.right, fragment);
  }
};

template <class Left, class Right>
struct Multiply : BinaryNode<Left, Right> {
  using typename BinaryNode<Left, Right>::Params;
  using typename BinaryNode<Left, Right>::State;
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, State& state,
                                      const Fragment& fragment) {
    return Left::apply(params.left, state.left, fragment) *
           Right::apply(params.right, state.right, fragment);
  }
};

template <class Of>
struct UnaryNode {
  using State = typename Of::State;
  static constexpr bool gates = Of::gates;
  static constexpr bool once = Of::once;
  template <class Params>
  static TW_DEVICE void finish(const Params& params, const State& state, unsigned lane) {
    Of::finish(params.of, state, lane);
  }
};

template <class Of>
struct Scale : UnaryNode<Of> {
  struct Params {
    float factor;
    typename Of::Params of;
  };
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, typename Of::State& state,
                                      const Fragment& fragment) {
    return Of::apply(params.of, state, fragment) * params.factor;
  }
};
// The last step before a narrow output: the scale brings values into its range.
template <class Of>
using Quantise = Scale<Of>;

template <class Formula, class Of>
struct Activate : UnaryNode<Of> {
  struct Params {
    typename Of::Params of;
  };
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, typename Of::State& state,
                                      const Fragment& fragment) {
    const FragmentPair pair = Of::apply(params.of, state, fragment);
    return {Formula{}(pair.first), Formula{}(pair.second)};
  }
};
template <class Of>
using Relu = Activate<formula::Relu, Of>;
template <class Of>
using Gelu = Activate<formula::Gelu, Of>;
template <class Of>
using Silu = Activate<formula::Silu, Of>;
template <class Of>
using Tanh = Activate<formula::Tanh, Of>;

template <class Of>
struct Clamp : UnaryNode<Of> {
  struct Params {
    formula::Clamp bounds;
    typename Of::Params of;
  };
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, typename Of::State& state,
                                      const Fragment& fragment) {
    const FragmentPair pair = Of::apply(params.of, state, fragment);
    return {params.bounds(pair.first), params.bounds(pair.second)};
  }
};

// Formula(value of an even column) * value of the next: one column of every two.
// Gate<formula::Silu, Sum> is SwiGLU.
template <class Formula, class Of>
struct Gate : UnaryNode<Of> {
  static_assert(!Of::gates, "A tree has at most one Gate on the way to its sums.");
  struct Params {
    typename Of::Params of;
  };
  static constexpr bool gates = true;
  template <class SourceChunk>
  static TW_DEVICE FragmentPair apply(const Params& params, typename Of::State& state,
                                      const Fragment<1, SourceChunk>& fragment) {
    const auto& at = fragment.place;
    const Fragment<2, SourceChunk> whole = {
        fragment.sum, {at.batch, at.row, 2 * at.column, at.m_end, 2 * at.n}, fragment.source};
    const FragmentPair pair = Of::apply(params.of, state, whole);
    return {Formula{}(pair.first) * pair.second, 0.0f};
  }
};

// Stores its value, and passes it on as it is.
template <ElementType type, class Of>
struct StoreAuxiliary : UnaryNode<Of> {
  struct Params {
    GlobalMatrix auxiliary;
    typename Of::Params of;
  };
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, typename Of::State& state,
                                      const Fragment& fragment) {
    const FragmentPair pair = Of::apply(params.of, state, fragment);
    const bool in_pairs = params.auxiliary.template in_pairs<type>();
    write_pair<type>(params.auxiliary, fragment.place, pair,
                     in_pairs && fragment.place.column + 1 < fragment.place.n);
    return pair;
  }
};

// The largest magnitude seen by a thread, as bits: ordered like the magnitudes, NaN above infinity.
struct Largest {
  std::uint32_t bits = 0;

  TW_DEVICE void see(float value, bool inside) {
    const std::uint32_t magnitude = float32::magnitude(value);
    if (inside) bits = magnitude > bits ? magnitude : bits;
  }
  // The largest of the warp goes to memory.
  TW_DEVICE void finish(std::uint32_t* amax, unsigned lane) const {
    std::uint32_t largest = bits;
    TW_UNROLL
    for (unsigned distance = isa::warp_lanes() / 2; distance > 0; distance /= 2) {
      const std::uint32_t other = isa::shuffle(largest, lane ^ distance);
      largest = other > largest ? other : largest;
    }
    if (lane == 0) isa::global_atomic_max_float_bits(amax, largest);
  }
};

// Raises *amax to the largest magnitude of its values, and passes them on. One NaN makes it NaN.
template <class Of>
struct Amax {
  struct Params {
    std::uint32_t* amax;
    typename Of::Params of;
  };
  struct State {
    Largest largest;
    typename Of::State of;
  };
  static constexpr bool gates = Of::gates;
  static constexpr bool once = Of::once;
  template <class Fragment>
  static TW_DEVICE FragmentPair apply(const Params& params, State& state,
                                      const Fragment& fragment) {
    const FragmentPair pair = Of::apply(params.of, state.of, fragment);
    state.largest.see(pair.first, fragment.place.first_inside());
    state.largest.see(pair.second, fragment.place.second_inside());
    return pair;
  }
  static TW_DEVICE void finish(const Params& params, const State& state, unsigned lane) {
    Of::finish(params.of, state.of, lane);
    state.largest.finish(params.amax, lane);
  }
};

}  // namespace tw::node
