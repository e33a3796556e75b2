// What a problem makes of scores before their exponentials: their scale, cap and window.
#pragma once

#include <limits>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/exponential.h"
#include "tilewright/isa/scalar.h"

namespace tw {

// What the softmaxes of rows, columns and single rows have in common.
class ScoreRule {
 public:
  // `scale` goes to the scores before their exponential; with a `cap` above 0 they are
  // cap tanh(scale score / cap). A row sees at most `window` keys.
  TW_DEVICE ScoreRule(float scale, float cap, int window)
      : scale_((cap > 0 ? cap : scale) * log2_of_e),
        to_tanh_(cap > 0 ? 2 * log2_of_e * scale / cap : 0),
        window_(window) {}

  // Whether scores are capped: blocks that are not masked have no code for it.
  TW_DEVICE bool caps() const { return to_tanh_ > 0; }

 protected:
  static constexpr float nothing = -std::numeric_limits<float>::infinity();
  static constexpr float log2_of_e = 1.44269504f;

  // tanh(x) = 1 - 2 / (1 + e^2x); the approximation of the hardware misses it by 2^-11.
  template <unsigned count>
  TW_DEVICE void cap(float (&scores)[count]) const {
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      scores[i] = 1 - 2 * isa::rcp_approx(1 + isa::ex2_approx(scores[i] * to_tanh_));
    }
  }

  float scale_;    // turns scores into exponents of 2
  float to_tanh_;  // to exponents of 2, of twice the tanh's argument; 0: no cap
  int window_;
};

}  // namespace tw
