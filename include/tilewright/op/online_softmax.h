// Softmax of rows whose scores come block by block: the running maximum and sum of each row, and by
// how much what was summed up before must shrink.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/exponential.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/op/wgmma.h"

namespace tw {

// Of a thread's two rows of a block of 64 by `keys` scores. Four lanes share a row: its maximum is
// exchanged in every block, its sum once, at the end.
template <unsigned keys>
class OnlineSoftmax {
  static constexpr unsigned values = keys / 2;  // of a thread
  static constexpr float nothing = -std::numeric_limits<float>::infinity();
  using Scores = RegisterAccumulator<1, keys>;

 public:
  // `scale` goes to the scores before their exponential.
  TW_DEVICE OnlineSoftmax(float scale, unsigned thread)
      : scale_(scale * 1.44269504f), lane_(thread % 32) {}

  // Rows that see so many keys from the sequence's first on.
  TW_DEVICE void begin(int upper_seen, int lower_seen) {
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      seen_[half] = (half == 0 ? upper_seen : lower_seen) - static_cast<int>(lane_ % 4 * 2);
      maximum_[half] = nothing;
      sum_[half] = 0;
    }
  }

  // Turns the scores of the keys from `first_key` on into weights, relative to each row's maximum
  // so far, and returns what earlier weights must be multiplied by.
  template <bool masked>
  TW_DEVICE RowPair next(Scores& scores, int first_key) {
    float(&block)[values] = scores.values(0);
    if constexpr (masked) mask(block, first_key);
    return {weigh<masked>(block, 0), weigh<masked>(block, 1)};
  }

  // What the sums of weighted values must be multiplied by. Rows that see no key give zeros.
  TW_DEVICE RowPair finish() {
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      sum_[half] += neighbour(sum_[half], 1);
      sum_[half] += neighbour(sum_[half], 2);
    }
    return {sum_[0] == 0 ? 0 : 1 / sum_[0], sum_[1] == 0 ? 0 : 1 / sum_[1]};
  }
  // After finish(): the natural logarithm of the sum of exponentials; minus infinity without keys.
  TW_DEVICE RowPair log_sum() const { return {log_sum(0), log_sum(1)}; }

 private:
  TW_DEVICE float neighbour(float value, unsigned distance) const {
    return std::bit_cast<float>(
        isa::shuffle(std::bit_cast<std::uint32_t>(value), lane_ ^ distance));
  }
  TW_DEVICE float log_sum(unsigned half) const {
    if (sum_[half] == 0) return nothing;
    return (maximum_[half] * scale_ + isa::lg2_approx(sum_[half])) * 0.693147181f;
  }

  // Value i stands 8 (i / 4) + i % 2 columns behind the thread's first.
  TW_DEVICE void mask(float (&block)[values], int first_key) const {
    TW_UNROLL
    for (unsigned i = 0; i < values; ++i) {
      const int column = static_cast<int>(i / 4 * 8 + i % 2);
      if (column >= seen_[i / 2 % 2] - first_key) block[i] = nothing;
    }
  }

  // Values 4 i + 2 half and the next are of one row. Two chains of each keep the units busy.
  template <bool masked>
  TW_DEVICE float weigh(float (&block)[values], unsigned half) {
    float largest[2] = {maximum_[half], nothing};
    TW_UNROLL
    for (unsigned i = 0; i < values / 4; ++i) {
      TW_UNROLL
      for (unsigned j = 0; j < 2; ++j) {
        largest[j] = std::fmax(largest[j], block[4 * i + 2 * half + j]);
      }
    }
    float maximum = std::fmax(largest[0], largest[1]);
    maximum = std::fmax(maximum, neighbour(maximum, 1));
    maximum = std::fmax(maximum, neighbour(maximum, 2));
    // A row that has seen no key yet weighs them all zero.
    const float subtracted = masked && maximum == nothing ? 0 : maximum * scale_;
    const float correction = isa::ex2_approx(maximum_[half] * scale_ - subtracted);
    maximum_[half] = maximum;
    float sum[2] = {sum_[half] * correction, 0};
    TW_UNROLL
    for (unsigned i = 0; i < values / 4; ++i) {
      TW_UNROLL
      for (unsigned j = 0; j < 2; ++j) {
        float& value = block[4 * i + 2 * half + j];
        value = isa::ex2_approx(value * scale_ - subtracted);
        sum[j] += value;
      }
    }
    sum_[half] = sum[0] + sum[1];
    return correction;
  }

  float scale_;  // of scores to exponents of 2
  unsigned lane_;
  int seen_[2];  // keys that a row sees, from the thread's first column on
  float maximum_[2];
  float sum_[2];
};

}  // namespace tw
