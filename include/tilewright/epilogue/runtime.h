// The epilogue of the library and the command line: one node, its parts chosen at run time by
// branches that are the same for all threads, so that any mix needs no new instance.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/layout/access.h"
#include "tilewright/number/narrow_float.h"

namespace tw {

// Two neighbours of a row: what one thread holds side by side in a fragment.
struct FragmentPair {
  float first;
  float second;
};

// d = alpha * sum + beta * c + bias, where c is m by n and bias one row of n values.
class RuntimeEpilogue {
 public:
  struct Params {
    float alpha;
    float beta;
    const Bf16* source;  // null: no beta * c
    std::int64_t source_pitch;
    const Bf16* bias;  // null: none
  };

  // Calls `body` with the node that serves: the branch is taken once per chunk, not once per value.
  template <class Body>
  static TW_DEVICE void choose(const Params& params, int m, int n, const Body& body) {
    if (params.source == nullptr && params.bias == nullptr) {
      body(Scaled{params.alpha});
    } else {
      body(Linear{params, m, n});
    }
  }

 private:
  struct Scaled {
    float alpha;
    TW_DEVICE FragmentPair apply(FragmentPair sum, int /*row*/, int /*column*/) const {
      return {alpha * sum.first, alpha * sum.second};
    }
  };

  struct Linear {
    const Params& params;
    int m;
    int n;
    // The pair at (row, column), (row, column + 1); what lies outside m by n is not stored.
    TW_DEVICE FragmentPair apply(FragmentPair sum, int row, int column) const {
      FragmentPair result = {params.alpha * sum.first, params.alpha * sum.second};
      const bool first_inside = column < n;
      const bool second_inside = column + 1 < n;
      if (params.source != nullptr && row < m) {
        const Bf16* source = params.source + row * params.source_pitch + column;
        if (first_inside) result.first += params.beta * read(source);
        if (second_inside) result.second += params.beta * read(source + 1);
      }
      if (params.bias != nullptr) {
        if (first_inside) result.first += read(params.bias + column);
        if (second_inside) result.second += read(params.bias + column + 1);
      }
      return result;
    }
    static TW_DEVICE float read(const Bf16* element) {
      return static_cast<float>(load_element<Space::Global>(element));
    }
  };
};

}  // namespace tw
