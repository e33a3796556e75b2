// Softmax of columns whose scores come block by block: scores stand by keys, so that all warps of a
// group share every column.
#pragma once

#include <bit>
#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/score_rule.h"
#include "tilewright/family/attention/swapped_weights.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/layout/shared_tile.h"
#include "tilewright/op/wgmma.h"
#include "tilewright/pipeline/together.h"

namespace tw {

// A number for each of a thread's columns.
template <unsigned n>
struct ColumnNumbers {
  float of[SumColumns<n>::count];
};

// The softmax of n columns, each of a query, by blocks of `keys` scores. Eight lanes of each of
// four warps share a column: its maximum is exchanged in every block, its sum once, at the end.
template <unsigned keys, unsigned n>
class ColumnSoftmax : public ScoreRule {
  static constexpr unsigned blocks = keys / 64;
  static constexpr unsigned warps = 4;
  using Columns = SumColumns<n>;
  using Scores = RegisterAccumulator<blocks, n>;

 public:
  using Numbers = ColumnNumbers<n>;
  struct Storage {
    // While one of the two sets is read, the fastest warps write the other; nobody writes into a
    // set again before all have met once more, and so have read it.
    alignas(16) float numbers[2][warps][n];
  };
  static TW_DEVICE void init(Storage& storage) {
    for (unsigned set = 0; set < 2; ++set) {
      isa::describe_shared(isa::shared_address(&storage.numbers[set]), set_bytes, "columns", set);
    }
  }

  // The threads of the group have the named barrier for themselves.
  TW_DEVICE ColumnSoftmax(float scale, float cap, int window, Storage& storage, unsigned barrier,
                          unsigned thread)
      : ScoreRule(scale, cap, window),
        numbers_(isa::shared_address(&storage)),
        barrier_(barrier),
        thread_(thread) {}

  // Takes another scale, for the columns that begin next.
  TW_DEVICE void rescale(float scale, float cap) {
    static_cast<ScoreRule&>(*this) = ScoreRule(scale, cap, window_);
  }

  // Columns whose last key is seen_by(column) behind the sequence's first.
  template <class SeenBy>
  TW_DEVICE void begin(const SeenBy& seen_by) {
    TW_UNROLL
    for (unsigned c = 0; c < Columns::count; ++c) {
      first_seen_[c] = seen_by(static_cast<int>(Columns::place(thread_, c))) - window_ -
                       static_cast<int>(Scores::row_of(thread_, 0));
      maximum_.of[c] = nothing;
      sum_.of[c] = 0;
    }
  }

  // Turns the scores of the keys from `first_key` on into weights, relative to each column's
  // maximum so far, and returns what earlier weights must be multiplied by.
  TW_DEVICE Numbers next(Scores& scores, int first_key) {
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      float(&values)[n / 2] = scores.values(block);
      if (to_tanh_ > 0) cap(values);
      mask(values, first_key + static_cast<int>(64 * block));
    }
    Numbers largest = maximum_;
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      const float(&values)[n / 2] = scores.values(block);
      TW_UNROLL
      for (unsigned i = 0; i < n / 2; ++i) {
        float& of_column = largest.of[Columns::of_value(i)];
        of_column = std::fmax(of_column, values[i]);
      }
    }
    exchange(largest, [](float left, float right) { return std::fmax(left, right); });
    Numbers subtracted, corrections;
    TW_UNROLL
    for (unsigned c = 0; c < Columns::count; ++c) {
      // A column that has seen no key yet weighs them all zero.
      subtracted.of[c] = largest.of[c] == nothing ? 0 : largest.of[c] * scale_;
      corrections.of[c] = isa::ex2_approx(maximum_.of[c] * scale_ - subtracted.of[c]);
      sum_.of[c] *= corrections.of[c];
    }
    maximum_ = largest;
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      float(&values)[n / 2] = scores.values(block);
      TW_UNROLL
      for (unsigned i = 0; i < n / 2; ++i) {
        constexpr auto column = &Columns::of_value;
        values[i] = isa::ex2_approx(values[i] * scale_ - subtracted.of[column(i)]);
        sum_.of[column(i)] += values[i];
      }
    }
    return corrections;
  }

  // What the sums of weighted values must be multiplied by. Columns that see no key give zeros.
  TW_DEVICE Numbers finish() {
    exchange(sum_, [](float left, float right) { return left + right; });
    Numbers factors;
    TW_UNROLL
    for (unsigned c = 0; c < Columns::count; ++c) {
      factors.of[c] = sum_.of[c] == 0 ? 0 : 1 / sum_.of[c];
    }
    return factors;
  }
  // After finish(): logarithms of the sums of exponentials, to the base 2; minus infinity without
  // keys.
  TW_DEVICE Numbers log2_sums() const {
    Numbers logs;
    TW_UNROLL
    for (unsigned c = 0; c < Columns::count; ++c) {
      logs.of[c] =
          sum_.of[c] == 0 ? nothing : maximum_.of[c] * scale_ + isa::lg2_approx(sum_.of[c]);
    }
    return logs;
  }

 private:
  static constexpr unsigned set_bytes = warps * n * 4;
  static constexpr Layout in_sets =
      from_modes(single(n, 1), single(warps, n), single(2, std::int64_t{warps} * n));

  // Each column's numbers of all lanes and warps become one, in the same order in every thread.
  template <class Join>
  TW_DEVICE void exchange(Numbers& numbers, const Join& join) {
    TW_UNROLL
    for (unsigned c = 0; c < Columns::count; ++c) {
      TW_UNROLL
      for (unsigned distance = 4; distance < 32; distance *= 2) {
        numbers.of[c] = join(numbers.of[c], neighbour(numbers.of[c], distance));
      }
    }
    const unsigned set = next_;
    next_ ^= 1;
    const auto pairs = numbers_.template chunks<8>();
    const unsigned warp = thread_ / 32;
    write_for_threads(barrier_, warps * 32, [&] {
      if (thread_ % 32 >= 4) return;
      TW_UNROLL
      for (unsigned c = 0; c < Columns::count; c += 2) {
        const std::uint32_t pair[2] = {std::bit_cast<std::uint32_t>(numbers.of[c]),
                                       std::bit_cast<std::uint32_t>(numbers.of[c + 1])};
        isa::store_shared_8(pairs.address(Columns::place(thread_, c) / 2, warp, set), pair);
      }
    });
    TW_UNROLL
    for (unsigned other = 0; other < warps; ++other) {
      TW_UNROLL
      for (unsigned c = 0; c < Columns::count; c += 2) {
        std::uint32_t pair[2];
        isa::load_shared_8(pair, pairs.address(Columns::place(thread_, c) / 2, other, set));
        TW_UNROLL
        for (unsigned j = 0; j < 2; ++j) {
          const float of_warp = std::bit_cast<float>(pair[j]);
          numbers.of[c + j] = other == 0 ? of_warp : join(numbers.of[c + j], of_warp);
        }
      }
    }
  }
  TW_DEVICE float neighbour(float value, unsigned distance) const {
    return std::bit_cast<float>(
        isa::shuffle(std::bit_cast<std::uint32_t>(value), (thread_ % 32) ^ distance));
  }

  // Value i stands 8 (i / 2 % 2) keys behind the thread's first.
  TW_DEVICE void mask(float (&values)[n / 2], int first_key) const {
    TW_UNROLL
    for (unsigned i = 0; i < n / 2; ++i) {
      const int behind =
          first_key + static_cast<int>(i / 2 % 2 * 8) - first_seen_[Columns::of_value(i)];
      if (static_cast<unsigned>(behind) >= static_cast<unsigned>(window_)) values[i] = nothing;
    }
  }

  SharedTile<float, in_sets> numbers_;  // (column,warp,set)
  unsigned barrier_;
  unsigned thread_;
  unsigned next_ = 0;
  int first_seen_[Columns::count];  // a column's, from the thread's first key on
  Numbers maximum_;
  Numbers sum_;
};

}  // namespace tw
