// What the rows of a tile of attention are, and what becomes of their sums.
#pragma once

#include <limits>

#include "tilewright/base/annotate.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/family/attention/sequences.h"
#include "tilewright/family/attention/softmax_parts.h"
#include "tilewright/family/attention/thread_rows.h"
#include "tilewright/layout/access.h"
#include "tilewright/schedule/work_tile.h"

namespace tw::kernel {

// The score of a head's sink, which every query sees; minus infinity where there are none.
TW_DEVICE float sink_of(const float* sinks, int head) {
  if (sinks == nullptr) return -std::numeric_limits<float>::infinity();
  return load_element<Space::Global>(sinks + head);
}

// What elements are multiplied by, for each head of keys.
struct NoScales {
  static constexpr bool are_there = false;
};
struct ScalesOfHeads {
  static constexpr bool are_there = true;
  const float* queries;  // null: 1
  const float* keys;
  const float* values;
  int query_heads_per_key_head;

  TW_DEVICE float of_scores(int head) const { return of(queries, head) * of(keys, head); }
  TW_DEVICE float of_values(int head) const { return of(values, head); }

 private:
  TW_DEVICE float of(const float* scales, int head) const {
    if (scales == nullptr) return 1;
    return load_element<Space::Global>(scales + head / query_heads_per_key_head);
  }
};

// A tile has queries of one head, and all the keys that they see: its epilogue stores the sums.
class OneHead {
 public:
  struct Params {
    const float* sinks;
    float* log_sums;  // (head,row) of log-sum-exp; null: not wanted
    std::int64_t log_sums_pitch;
  };
  TW_DEVICE OneHead(const Params& params, unsigned thread) : params_(params), thread_(thread) {}

  // Which query, from the group's first on, a row is of, and the last that any row is of.
  TW_DEVICE int token(int row) const { return row; }
  TW_DEVICE int last_token() const { return 63; }

  template <class Sum, class Softmax>
  TW_DEVICE void finish(Sum& sum, Softmax& softmax, const WorkTile& tile, int first_token) const {
    sum.scale_rows(softmax.finish(sink_of(params_.sinks, tile.batch)));
    using Shared = ThreadRows<Sum>;
    if (params_.log_sums == nullptr || !Shared::speaks(thread_)) return;
    const RowPair logs = softmax.log_sum();
    const int upper = first_token + static_cast<int>(Sum::row_of(thread_, 0));
    float* const to = params_.log_sums + tile.batch * params_.log_sums_pitch + upper;
    if (upper < tile.m_end) store_element<Space::Global>(to, logs.upper);
    if (upper + Shared::apart < tile.m_end) {
      store_element<Space::Global>(to + Shared::apart, logs.lower);
    }
  }

 private:
  const Params& params_;
  unsigned thread_;
};

// A tile has a few queries of each of the heads that share keys, head by head, and a part of the
// keys: the one that has the last of them joins the parts, and stores the rows itself.
template <ElementType type, unsigned columns, unsigned lanes = 32>
class ManyHeads {
  using Parts = SoftmaxParts<columns, lanes>;

 public:
  struct Params {
    const float* sinks;
    float* log_sums;  // (head,row) of log-sum-exp; null: not wanted
    std::int64_t log_sums_pitch;
    SharedRows shared;
    typename Parts::Params parts;
    void* output;
    std::int64_t token_pitch;  // in elements
    std::int64_t head_pitch;
    int value_columns;
  };
  TW_DEVICE ManyHeads(const Params& params, unsigned thread)
      : params_(params), parts_(params.parts, thread), thread_(thread) {}

  TW_DEVICE int token(int row) const { return row % params_.shared.room; }
  TW_DEVICE int last_token() const { return params_.shared.room - 1; }

  template <class Sum, class Softmax>
  TW_DEVICE void finish(Sum& sum, Softmax& softmax, const WorkTile& tile, int first_token) {
    if (tile.num_k_tiles() == 0 && !tile.finishes()) return;  // a part that no row sees
    sum.scale_rows(softmax.finish(-std::numeric_limits<float>::infinity()));
    const int tokens = tile.m_end - first_token;
    const auto place_of = [&](int row) {
      const int head = row / params_.shared.room;
      const bool is_used = head < params_.shared.heads && token(row) < tokens;
      return is_used ? head * params_.shared.tokens + token(row) : -1;
    };
    const int rows[2] = {static_cast<int>(Sum::row_of(thread_, 0)),
                         static_cast<int>(Sum::row_of(thread_, ThreadRows<Sum>::run))};
    const int places[2] = {place_of(rows[0]), place_of(rows[1])};
    const auto sink = [&](int row) {
      return sink_of(params_.sinks, tile.batch + row / params_.shared.room);
    };
    const auto store = [&](int row, unsigned column, const Vector<float, 2>& pair) {
      store_pair(tile.batch + row / params_.shared.room, first_token + token(row), column, pair);
    };
    const auto store_log = [&](int row, float log) {
      if (params_.log_sums == nullptr) return;
      const std::int64_t head = tile.batch + row / params_.shared.room;
      store_element<Space::Global>(
          params_.log_sums + head * params_.log_sums_pitch + first_token + token(row),
          log * 0.693147181f);
    };
    if (!tile.finishes()) return parts_.deposit(sum, softmax.log2_sum(), tile, places);
    if (tile.parts > 1) {
      const int first = static_cast<int>(thread_ / lanes) * Parts::warp_rows;  // row of the warp
      return parts_.join(
          sum, softmax.log2_sum(), tile, places, [&](int row) { return place_of(first + row); },
          [&](int row) { return sink(first + row); },
          [&](int row, unsigned column, const auto& pair) { store(first + row, column, pair); },
          [&](int row, float log) { store_log(first + row, log); });
    }
    float sinks[2] = {}, logs[2] = {softmax.log2_sum().upper, softmax.log2_sum().lower};
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      if (places[half] >= 0) sinks[half] = sink(rows[half]);
    }
    sum.scale_rows(Parts::alone(logs, sinks));
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      if (places[half] < 0) continue;
      TW_UNROLL
      for (unsigned pair = 0; pair < columns / 8; ++pair) {
        const unsigned i = ThreadRows<Sum>::value_of(half, 2 * pair);
        store(rows[half], Sum::column_of(thread_, i),
              Vector<float, 2>{{sum.value(0, i), sum.value(0, i + 1)}});
      }
      if (ThreadRows<Sum>::speaks(thread_)) store_log(rows[half], logs[half]);
    }
  }

 private:
  TW_DEVICE void store_pair(int head, int row, unsigned column,
                            const Vector<float, 2>& pair) const {
    if (static_cast<int>(column) >= params_.value_columns) return;
    auto* const to = static_cast<std::uint16_t*>(params_.output) + head * params_.head_pitch +
                     row * params_.token_pitch + column;
    store_element<Space::Global>(reinterpret_cast<std::uint32_t*>(to),
                                 pack<type>(FragmentPair{pair.get(0), pair.get(1)}));
  }

  const Params& params_;
  Parts parts_;
  unsigned thread_;
};

}  // namespace tw::kernel
