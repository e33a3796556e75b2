// Softmax of rows whose scores come block by block: the running maximum and sum of each row, and by
// how much what was summed up before must shrink.
#pragma once

#include <bit>
#include <cmath>

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/score_rule.h"
#include "tilewright/family/attention/sequences.h"
#include "tilewright/family/attention/thread_rows.h"
#include "tilewright/isa/exponential.h"
#include "tilewright/isa/threads.h"

namespace tw {

// How many keys each of a thread's rows sees; without `given` a window says it for all.
template <bool given>
struct RowWidths {};
template <>
struct RowWidths<true> {
  unsigned widths[2];
};

// The softmax of a thread's two rows of a block of `Scores`. Four lanes share a row: its maximum is
// exchanged in every block, its sum once, at the end. The largest weight is 2 to `exponent`. With
// `ranges` each row has a window of its own.
template <class Scores, int exponent = 0, bool ranges = false>
class OnlineSoftmax : public ScoreRule, private RowWidths<ranges> {
  static constexpr unsigned values = Scores::columns / 2;  // scores of a thread
  using Shared = ThreadRows<Scores>;

 public:
  TW_DEVICE OnlineSoftmax(float scale, float cap, int window, unsigned thread)
      : ScoreRule(scale, cap, window), lane_(thread % Shared::lanes) {}
  // Takes another scale, for the rows that begin next.
  TW_DEVICE void rescale(float scale, float cap) {
    *this = OnlineSoftmax(scale, cap, window_, lane_);
  }

  // Rows whose last key is so many behind the sequence's first.
  TW_DEVICE void begin(int upper_seen, int lower_seen) {
    begin_at(upper_seen - window_, lower_seen - window_);
  }
  // The same of rows that see a range of keys each.
  TW_DEVICE void begin(const KeyRange& upper, const KeyRange& lower) {
    this->widths[0] = static_cast<unsigned>(upper.end - upper.first);
    this->widths[1] = static_cast<unsigned>(lower.end - lower.first);
    begin_at(upper.first, lower.first);
  }

  // Finds the maxima so far of the thread's rows, with the scores of the keys from `first_key` on,
  // and returns what earlier weights must be multiplied by. Of a `masked` block masks may still cut
  // nothing. With `upper_only` the lower row is nobody's.
  template <bool masked, bool upper_only = false>
  TW_DEVICE RowPair compare(Scores& scores, int first_key, bool is_cut = true) {
    float(&block)[values] = scores.values(0);
    if constexpr (masked) {
      if (caps()) cap(block);
      if (is_cut) mask(block, first_key);
    }
    const float upper = compare<masked>(block, 0);
    return {upper, upper_only ? 1 : compare<masked>(block, 1)};
  }
  // Turns the scores of the upper (0) or lower row into weights, relative to its maximum; those of
  // a row that is nobody's into zeros.
  template <bool upper_only = false>
  TW_DEVICE void weigh(Scores& scores, unsigned half) {
    float(&block)[values] = scores.values(0);
    if (upper_only && half == 1) {
      TW_UNROLL
      for (unsigned i = 0; i < values / 2; ++i) block[Shared::value_of(1, i)] = 0;
    } else {
      weigh(block, half);
    }
  }

  // What the sums of weighted values must be multiplied by. `sink` is one more score, without a
  // value; minus infinity is none. Rows that see no key give zeros.
  TW_DEVICE RowPair finish(float sink) { return {finish(0, sink), finish(1, sink)}; }
  // After finish(): the logarithm of the sum of exponentials, the natural one or to the base 2;
  // minus infinity without keys.
  TW_DEVICE RowPair log_sum() const {
    return {log2_sum(0) * 0.693147181f, log2_sum(1) * 0.693147181f};
  }
  TW_DEVICE RowPair log2_sum() const { return {log2_sum(0), log2_sum(1)}; }

 private:
  TW_DEVICE void begin_at(int upper_first, int lower_first) {
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      first_seen_[half] = (half == 0 ? upper_first : lower_first) -
                          static_cast<int>(Scores::column_of(lane_, 0));
      maximum_[half] = nothing;
      sum_[half] = 0;
    }
  }
  TW_DEVICE float neighbour(float value, unsigned distance) const {
    return std::bit_cast<float>(
        isa::shuffle(std::bit_cast<std::uint32_t>(value), lane_ ^ distance));
  }
  TW_DEVICE float log2_sum(unsigned half) const {
    return sum_[half] == 0 ? nothing : maximum_[half] + isa::lg2_approx(sum_[half]);
  }
  // The maximum becomes an exponent of 2.
  TW_DEVICE float finish(unsigned half, float sink) {
    sum_[half] += neighbour(sum_[half], Shared::step);
    sum_[half] += neighbour(sum_[half], 2 * Shared::step);
    const float own = maximum_[half] * scale_ - exponent;
    const float maximum = std::fmax(own, sink * log2_of_e);
    const float subtracted = maximum == nothing ? 0 : maximum;
    const float correction = isa::ex2_approx(own - subtracted);
    sum_[half] = sum_[half] * correction + isa::ex2_approx(sink * log2_of_e - subtracted);
    maximum_[half] = maximum;
    return sum_[half] == 0 ? 0 : correction / sum_[half];
  }

  TW_DEVICE unsigned window([[maybe_unused]] unsigned half) const {
    if constexpr (ranges) {
      return this->widths[half];
    } else {
      return static_cast<unsigned>(window_);
    }
  }
  // A thread's values stand as those of the first do, behind its own first.
  TW_DEVICE void mask(float (&block)[values], int first_key) const {
    TW_UNROLL
    for (unsigned i = 0; i < values; ++i) {
      const int column = static_cast<int>(Scores::column_of(0, i));
      const int behind = column + first_key - first_seen_[i / Shared::run % 2];
      if (static_cast<unsigned>(behind) >= window(i / Shared::run % 2)) block[i] = nothing;
    }
  }

  // Two chains of each row keep the units busy.
  template <bool masked>
  TW_DEVICE float compare(float (&block)[values], unsigned half) {
    float largest[2] = {maximum_[half], nothing};
    TW_UNROLL
    for (unsigned i = 0; i < values / 4; ++i) {
      TW_UNROLL
      for (unsigned j = 0; j < 2; ++j) {
        largest[j] = std::fmax(largest[j], block[Shared::value_of(half, 2 * i + j)]);
      }
    }
    float maximum = std::fmax(largest[0], largest[1]);
    maximum = std::fmax(maximum, neighbour(maximum, Shared::step));
    maximum = std::fmax(maximum, neighbour(maximum, 2 * Shared::step));
    // A row that has seen no key yet weighs them all zero.
    subtracted_[half] = masked && maximum == nothing ? 0 : maximum * scale_ - exponent;
    const float correction =
        isa::ex2_approx(maximum_[half] * scale_ - exponent - subtracted_[half]);
    maximum_[half] = maximum;
    sum_[half] *= correction;
    return correction;
  }
  TW_DEVICE void weigh(float (&block)[values], unsigned half) {
    float sum[2] = {sum_[half], 0};
    TW_UNROLL
    for (unsigned i = 0; i < values / 4; ++i) {
      TW_UNROLL
      for (unsigned j = 0; j < 2; ++j) {
        float& value = block[Shared::value_of(half, 2 * i + j)];
        value = isa::ex2_approx(value * scale_ - subtracted_[half]);
        sum[j] += value;
      }
    }
    sum_[half] = sum[0] + sum[1];
  }

  unsigned lane_;
  int first_seen_[2];  // a row's, from the thread's first column on
  float maximum_[2];
  float subtracted_[2];  // from the exponents of a block
  float sum_[2];
};

}  // namespace tw
