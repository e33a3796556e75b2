// Softmax of a row whose scores come block by block, all of it one thread's.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/score_rule.h"

namespace tw {

// OnlineSoftmax of a thread's one row: `keys` scores at a time, and nothing to exchange.
template <unsigned keys>
class RowSoftmax : public ScoreRule {
 public:
  using ScoreRule::ScoreRule;

  // A row whose last key is so many behind the sequence's first.
  TW_DEVICE void begin(int seen) {
    first_seen_ = seen - window_;
    maximum_ = nothing;
    subtracted_ = 0;
    sum_ = 0;
  }

  // Finds the row's maximum so far, with the scores of the keys from `first_key` on, and returns
  // what earlier weights must be multiplied by.
  template <bool masked>
  TW_DEVICE float compare(float (&scores)[keys], int first_key) {
    if constexpr (masked) {
      if (caps()) cap(scores);
      mask(scores, first_key);
    }
    constexpr unsigned chains = 4;
    float largest[chains] = {nothing, nothing, nothing, nothing};
    TW_UNROLL
    for (unsigned i = 0; i < keys; ++i) {
      largest[i % chains] = std::fmax(largest[i % chains], scores[i]);
    }
    const float maximum =
        std::fmax(std::fmax(largest[0], largest[1]), std::fmax(largest[2], largest[3]));
    // Most maxima stay, and so do all that were summed up; without a key so far, weights are zero.
    if (maximum <= maximum_) return 1;
    subtracted_ = maximum * scale_;
    const float correction = isa::ex2_approx(maximum_ * scale_ - subtracted_);
    maximum_ = maximum;
    sum_ *= correction;
    return correction;
  }
  // Turns scores into weights.
  TW_DEVICE void weigh(float (&scores)[keys]) {
    float sums[2] = {sum_, 0};
    TW_UNROLL
    for (unsigned i = 0; i < keys; ++i) {
      scores[i] = isa::ex2_approx(scores[i] * scale_ - subtracted_);
      sums[i % 2] += scores[i];
    }
    sum_ = sums[0] + sums[1];
  }

  // What the sums of weighted values must be multiplied by. `sink` is one more score, without a
  // value; minus infinity is none. Rows that see no key give zeros.
  TW_DEVICE float finish(float sink) {
    const float own = maximum_ * scale_;
    const float maximum = std::fmax(own, sink * log2_of_e);
    const float subtracted = maximum == nothing ? 0 : maximum;
    const float correction = isa::ex2_approx(own - subtracted);
    sum_ = sum_ * correction + isa::ex2_approx(sink * log2_of_e - subtracted);
    maximum_ = maximum;  // an exponent of 2 from now on
    return sum_ == 0 ? 0 : correction / sum_;
  }
  // After finish(): the natural logarithm of the sum of exponentials; minus infinity without keys.
  TW_DEVICE float log_sum() const {
    return sum_ == 0 ? nothing : (maximum_ + isa::lg2_approx(sum_)) * 0.693147181f;
  }

 private:
  TW_DEVICE void mask(float (&scores)[keys], int first_key) const {
    TW_UNROLL
    for (unsigned i = 0; i < keys; ++i) {
      const int behind = static_cast<int>(i) + first_key - first_seen_;
      if (static_cast<unsigned>(behind) >= static_cast<unsigned>(window_)) scores[i] = nothing;
    }
  }

  int first_seen_;
  float maximum_;
  float subtracted_;  // from the exponents
  float sum_;
};

}  // namespace tw
