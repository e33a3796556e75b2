// The scores of one token's experts, in the registers of 32 lanes, and the largest among them.
#pragma once

#include <bit>
#include <limits>

#include "tilewright/base/annotate.h"
#include "tilewright/epilogue/elementary.h"
#include "tilewright/isa/threads.h"

namespace tw {

// Numbers ordered as floats are, of which NaN is minus infinity and -0 is 0; nothing is below all.
struct ScoreKey {
  static constexpr std::uint32_t nothing = 0;
  static TW_DEVICE std::uint32_t of(float score) {
    if (score != score) score = -std::numeric_limits<float>::infinity();
    if (score == 0) score = 0;
    const auto bits = std::bit_cast<std::uint32_t>(score);
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  }
  static TW_DEVICE float score(std::uint32_t key) {
    return std::bit_cast<float>((key & 0x80000000u) != 0 ? key ^ 0x80000000u : ~key);
  }
};

// exp(x - most), where neither is NaN: 1 where both are the same infinity.
TW_DEVICE float softmax_part(float x, float most) {
  const float difference = x - most;
  if (x == most) return 1.0f;
  return difference < -87.0f ? 0.0f : elementary::exp(difference);
}

// Lane i has experts i, i + 32 and so on. All lanes of a warp call every function.
template <unsigned of_lane>
class TokenScores {
 public:
  TW_DEVICE TokenScores(unsigned thread, unsigned experts) : thread_(thread), experts_(experts) {
    TW_UNROLL
    for (unsigned i = 0; i < of_lane; ++i) keys_[i] = ScoreKey::nothing;
  }
  // The score is what the softmax is of, and chosen by.
  TW_DEVICE void take(unsigned i, float logit) {
    keys_[i] = ScoreKey::of(logit);
    scores_[i] = ScoreKey::score(keys_[i]);
  }
  TW_DEVICE void take_sigmoid(unsigned i, float logit, float bias) {
    scores_[i] = elementary::logistic(ScoreKey::score(ScoreKey::of(logit)));
    keys_[i] = ScoreKey::of(scores_[i] + bias);
  }

  // Leaves the experts of the best groups.
  TW_DEVICE void keep_groups(unsigned groups, unsigned top_groups, unsigned group_scores) {
    const unsigned size = experts_ / groups;
    std::uint32_t key = ScoreKey::nothing;  // lane i: of group i
    for (unsigned group = 0; group < groups; ++group) {
      const unsigned first = group * size;
      const Best best = best_of_lanes(best_own(first, first + size, none));
      std::uint32_t of_group = best.key;
      if (group_scores == 2) {
        const Best next = best_of_lanes(best_own(first, first + size, best.expert));
        of_group = ScoreKey::of(ScoreKey::score(best.key) + ScoreKey::score(next.key));
      }
      if (thread_ % 32 == group) key = of_group;
    }
    std::uint32_t kept = 0;
    for (unsigned i = 0; i < top_groups; ++i) {
      const Best best = best_of_lanes({key, thread_ % 32});
      kept |= 1u << best.expert;
      if (thread_ % 32 == best.expert) key = ScoreKey::nothing;
    }
    TW_UNROLL
    for (unsigned i = 0; i < of_lane; ++i) {
      if ((kept >> (expert(i) / size) & 1) == 0) keys_[i] = ScoreKey::nothing;
    }
  }

  // The best that is left, in all lanes; it is left no more.
  TW_DEVICE std::uint32_t take_best(float& score) {
    const Best best = best_of_lanes(best_own(0, experts_, none));
    std::uint32_t bits = 0;
    TW_UNROLL
    for (unsigned i = 0; i < of_lane; ++i) {
      if (expert(i) != best.expert) continue;
      keys_[i] = ScoreKey::nothing;
      bits = std::bit_cast<std::uint32_t>(scores_[i]);
    }
    score = std::bit_cast<float>(isa::shuffle(bits, lane_of(best.expert % 32)));
    return best.expert;
  }

  // Weights of what was chosen: lane i has the score that was i-th, and gets its weight. Chosen
  // ones are added up in their order; all, by lanes and then by neighbours.
  TW_DEVICE float share_of_softmax(float score, unsigned k, bool of_chosen) const {
    // The best is the largest logit, for its group was chosen by it.
    const float most = from_lane(score, 0);
    const float part = softmax_part(score, most);
    if (of_chosen) return part / sum_of_chosen(part, k);
    float sum = 0;
    TW_UNROLL
    for (unsigned i = 0; i < of_lane; ++i) {
      if (expert(i) < experts_) sum += softmax_part(scores_[i], most);
    }
    TW_UNROLL
    for (unsigned step = 1; step < 32; step *= 2) {
      const auto bits = std::bit_cast<std::uint32_t>(sum);
      sum += std::bit_cast<float>(isa::shuffle(bits, (thread_ ^ step) % isa::warp_lanes()));
    }
    return part / sum;
  }
  TW_DEVICE float share_of_sigmoids(float score, unsigned k, bool of_chosen) const {
    // All may be zero.
    return of_chosen ? score / (sum_of_chosen(score, k) + 1e-20f) : score;
  }

 private:
  struct Best {
    std::uint32_t key, expert;
  };
  static constexpr std::uint32_t none = ~0u;

  TW_DEVICE unsigned expert(unsigned i) const { return i * 32 + thread_ % 32; }
  TW_DEVICE unsigned lane_of(unsigned lane) const {
    return (thread_ / 32 * 32 + lane) % isa::warp_lanes();
  }
  TW_DEVICE float from_lane(float value, unsigned lane) const {
    return std::bit_cast<float>(isa::shuffle(std::bit_cast<std::uint32_t>(value), lane_of(lane)));
  }
  TW_DEVICE float sum_of_chosen(float part, unsigned k) const {
    float sum = 0;
    for (unsigned i = 0; i < k; ++i) sum += from_lane(part, i);
    return sum;
  }

  // The best of the own experts from `first` up to `end`, but for one.
  TW_DEVICE Best best_own(unsigned first, unsigned end, unsigned without) const {
    Best best = {ScoreKey::nothing, none};
    TW_UNROLL
    for (unsigned i = 0; i < of_lane; ++i) {
      const unsigned at = expert(i);
      const bool counts = at >= first && at < end && at != without;
      if (counts && keys_[i] > best.key) best = {keys_[i], at};
    }
    return best;
  }
  // The largest key, and of several the lowest expert.
  TW_DEVICE Best best_of_lanes(Best best) const {
    TW_UNROLL
    for (unsigned step = 1; step < 32; step *= 2) {
      const unsigned from = (thread_ ^ step) % isa::warp_lanes();
      const Best other = {isa::shuffle(best.key, from), isa::shuffle(best.expert, from)};
      const bool is_better =
          other.key > best.key || (other.key == best.key && other.expert < best.expert);
      if (is_better) best = other;
    }
    return best;
  }

  unsigned thread_, experts_;
  std::uint32_t keys_[of_lane];
  float scores_[of_lane];
};

}  // namespace tw
