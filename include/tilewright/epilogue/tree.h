// A tree of nodes as an epilogue that is fixed when the kernel is compiled.
#pragma once

#include "tilewright/epilogue/contracts.h"
#include "tilewright/epilogue/nodes.h"

namespace tw {

// What the fragment loop runs. An epilogue chooses a program once per tile; each pair of sums then
// goes through its begin(), and groups of pairs through its evaluate().
struct PassThrough {  // int32 sums, as they are
  struct State {};
  static constexpr bool unrolled = true;
  static constexpr bool passes_integers = true;
  static constexpr unsigned block_columns = 0;
  static constexpr bool gates() { return false; }
  TW_DEVICE IntegerPair begin(IntegerPair sum) const { return sum; }
  TW_DEVICE void finish(const State&, unsigned) const {}
};

template <class Root>
class Tree : public UsualEpilogue {
  static_assert(EpilogueNode<Root>);

 public:
  using Params = typename Root::Params;
  static constexpr bool once = Root::once;

  static TW_DEVICE void prepare(const Params&, const FragmentPlace<2>&, int, unsigned) {}

  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool /*whole_pairs*/, const Body& body) {
    constexpr bool exact = std::is_same_v<Root, node::Sum> && output == ElementType::S32;
    if constexpr (exact && std::is_same_v<Value, std::int32_t>) {
      body(PassThrough{});
    } else {
      body(Program{params});
    }
  }

 private:
  struct Program {
    using State = typename Root::State;
    static constexpr bool unrolled = true;
    static constexpr bool passes_integers = false;
    static constexpr unsigned block_columns = 0;
    const Params& params;

    static constexpr bool gates() { return Root::gates; }
    TW_DEVICE FragmentPair begin(FragmentPair sum) const { return sum; }
    // place_of(i) is where pair i stands; gated results are left in `first`.
    template <unsigned pairs, class PlaceOf, class SourceChunk>
    TW_DEVICE void evaluate(State& state, FragmentPair (&values)[pairs], const PlaceOf& place_of,
                            const SourceChunk& source) const {
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) {
        if constexpr (Root::gates) {
          const Fragment<1, SourceChunk> fragment = {values[i], gated(place_of(i)), source};
          values[i] = Root::apply(params, state, fragment);
        } else {
          const Fragment<2, SourceChunk> fragment = {values[i], place_of(i), source};
          values[i] = Root::apply(params, state, fragment);
        }
      }
    }
    TW_DEVICE void finish(const State& state, unsigned lane) const {
      Root::finish(params, state, lane);
    }
  };
};

}  // namespace tw
