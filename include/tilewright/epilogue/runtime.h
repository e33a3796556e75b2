// The epilogue of the library and the command line: EpilogueArguments, its parts chosen at run time
// by branches that are the same for all threads, so that any mix needs no new instance.
#pragma once

#include "tilewright/epilogue/contracts.h"
#include "tilewright/epilogue/mix.h"
#include "tilewright/epilogue/residual.h"
#include "tilewright/isa/global_memory.h"

namespace tw {

class RuntimeEpilogue : public UsualEpilogue {
 public:
  using Params = EpilogueArguments;

  // Ahead of a tile that begins at `first` and has so many columns: its biases need not be waited
  // for.
  static TW_DEVICE void prepare(const Params& params, const FragmentPlace<2>& first, int columns,
                                unsigned thread) {
    if (params.column_bias == nullptr) return;
    const int at = static_cast<int>(thread * 128);
    const int bytes = static_cast<int>(bytes_of(params.bias_type));
    if (at < columns * bytes) {
      isa::prefetch_global(static_cast<const char*>(params.column_bias) + first.column * bytes +
                           at);
    }
  }

  // Once per tile. Plain epilogues have code of their own, and so has what a kernel with staged
  // sources is for.
  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool whole_pairs, const Body& body) {
    constexpr bool exact = std::is_same_v<Value, std::int32_t> && output == ElementType::S32;
    if (!is_plain(params) || (exact && params.alpha != 1.0f)) {
      if constexpr (SourceChunk::is_staged && bytes_of(output) == 2) {
        using Residual = ResidualProgram<output>;
        if (whole_pairs && Residual::serves(params)) return body(Residual{params});
      }
      return body(Mix{params});
    }
    if constexpr (exact) {
      body(PassThrough{});
    } else {
      body(Scaled{params.alpha});
    }
  }

  // alpha * sum, and nothing else.
  static TW_HOST_DEVICE bool is_plain(const Params& params) {
    const auto bits = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    const auto pointers = bits(params.source) | bits(params.column_bias) | bits(params.row_bias) |
                          bits(params.column_scale) | bits(params.row_scale) |
                          bits(params.auxiliary) | bits(params.amax);
    return pointers == 0 && params.activation == Activation::None && !params.gated &&
           params.output_scale == 1.0f;
  }

 protected:
  using Mix = EpilogueMix;

  struct Scaled {
    struct State {};
    static constexpr bool unrolled = true;
    static constexpr bool passes_integers = false;
    static constexpr unsigned block_columns = 0;
    float alpha;

    static constexpr bool gates() { return false; }
    TW_DEVICE FragmentPair begin(FragmentPair sum) const { return sum * alpha; }
    template <class Values, class PlaceOf, class SourceChunk>
    TW_DEVICE void evaluate(State&, Values&, const PlaceOf&, const SourceChunk&) const {}
    TW_DEVICE void finish(const State&, unsigned) const {}
  };
};

// alpha * sum alone, without code for anything else.
struct PlainEpilogue : RuntimeEpilogue {
  static TW_DEVICE void prepare(const Params&, const FragmentPlace<2>&, int, unsigned) {}
  template <class Value, ElementType output, class SourceChunk, class Body>
  static TW_DEVICE void choose(const Params& params, bool, const Body& body) {
    body(Scaled{params.alpha});
  }
};

}  // namespace tw
