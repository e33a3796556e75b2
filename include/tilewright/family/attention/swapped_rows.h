// Columns of sums that are rows of queries, whose keys are taken in parts: what SoftmaxParts and
// ManyHeads do, of sums that stand the other way.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/rows.h"
#include "tilewright/family/attention/swapped_softmax.h"
#include "tilewright/io/divisor.h"
#include "tilewright/isa/counter.h"
#include "tilewright/isa/exponential.h"

namespace tw::kernel {

// Divisions that the launch foresees, where a launch is so short that they count.
struct ForeseenRows {
  unsigned room_log;  // a head's rows are a power of two
  Quotient of_sharing;
};
struct DividedRows {};

// A tile has a few queries of each of the heads that share keys, head by head, as columns of the
// sums, whose rows are `columns` of values. Each warp has rows of its own there, a quarter, and
// leaves and joins these alone. What a row gets does not depend on how many of the last parts it
// sees nothing of: these weigh zero. Each of `groups` has n of the queries.
template <ElementType type, unsigned columns, unsigned n, unsigned groups, bool foresees>
class SwappedHeads {
  using Quad = Vector<float, 4>;
  static constexpr unsigned blocks = columns / 64;
  static constexpr float log2_of_e = 1.44269504f;
  // A row of a part: its columns, and for each warp the logarithm of its sum.
  static constexpr unsigned pitch = SoftmaxParts<columns>::pitch;
  static_assert(pitch >= columns + 4);

 public:
  struct Params : ManyHeads<type, columns>::Params,
                  std::conditional_t<foresees, ForeseenRows, DividedRows> {
    int sharing;  // heads that share keys: the last tile of them may have fewer than the others
  };
  TW_DEVICE SwappedHeads(const Params& params, unsigned thread, unsigned group = 0)
      : params_(params), warp_(thread / 32), lane_(thread % 32), group_(groups == 1 ? 0 : group) {}

  // The tile's row that is the group's first.
  TW_DEVICE int first_row() const { return static_cast<int>(group_ * n); }

  // Which query, from the tile's first on, a row is of.
  TW_DEVICE int token(int row) const {
    if constexpr (foresees) return row & (params_.shared.room - 1);
    return row % params_.shared.room;
  }

  template <class Op, class Sum, class Softmax>
  TW_DEVICE void finish(Sum& sum, Softmax& softmax, const WorkTile& tile, int first_token) {
    if (tile.num_k_tiles() == 0 && !tile.finishes()) return;  // a part that no row sees
    find_heads(tile);
    Op::correct(sum, softmax.finish());
    Numbers logs = softmax.log2_sums();
    const int tokens = tile.m_end - first_token;
    if (tile.parts == 1) return store_alone<Op>(sum, logs, tile, first_token, tokens);
    leave<Op>(sum, logs, tile, tokens);
    if (!tile.finishes()) {
      isa::warp_sync();
      if (lane_ == 0) isa::global_add_release(counter(tile), 1);
      return;
    }
    if (lane_ == 0) {
      isa::global_wait_at_least(counter(tile), static_cast<unsigned>(tile.parts - 1));
    }
    isa::warp_sync();
    join(tile, first_token, tokens);
    if (lane_ == 0) isa::global_store_release(counter(tile), 0);
  }

 protected:
  using Columns = SumColumns<n>;
  using Numbers = ColumnNumbers<n>;
  static constexpr float nothing = -std::numeric_limits<float>::infinity();

  TW_DEVICE void find_heads(const WorkTile& tile) {
    int before = 0;
    if constexpr (foresees) {
      before = tile.batch - params_.of_sharing.of(tile.batch) * params_.sharing;
    } else {
      before = tile.batch % params_.sharing;
    }
    const int left = params_.sharing - before;
    heads_ = left < params_.shared.heads ? left : params_.shared.heads;
  }
  static TW_DEVICE float finite(float log) { return log < -3.4e38f ? 0 : log; }
  TW_DEVICE int head(int row) const {
    if constexpr (foresees) return row >> params_.room_log;
    return row / params_.shared.room;
  }
  // Where a row lies in a part; -1: nowhere.
  TW_DEVICE int place_of(int row, int tokens) const {
    const bool is_used = head(row) < heads_ && token(row) < tokens;
    return is_used ? head(row) * params_.shared.tokens + token(row) : -1;
  }
  TW_DEVICE int row_of(unsigned c) const {
    return first_row() + static_cast<int>(Columns::place(lane_, c));
  }
  TW_DEVICE float sink(const WorkTile& tile, int row) const {
    return sink_of(params_.sinks, tile.batch + head(row)) * log2_of_e;
  }

  // The thread's value 2 half of a block stands in this column of values. Where A came from bytes,
  // neighbours are 8 rows apart.
  template <class Op>
  TW_DEVICE unsigned column_of(unsigned block, unsigned half) const {
    const unsigned of_warp = 64 * block + 16 * warp_;
    if constexpr (Op::rows_are_paired) return of_warp + lane_ / 4 * 2 + half;
    return of_warp + lane_ / 4 + 8 * half;
  }
  template <class Sum, class Store>
  static TW_DEVICE void each_of_column(const Sum& sum, unsigned c, const Store& store) {
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        store(block, half, sum.value(block, c / 2 * 4 + c % 2 + 2 * half));
      }
    }
  }

  // One part alone: its sink joins, and the rows are stored as they are.
  template <class Op, class Sum>
  TW_DEVICE void store_alone(Sum& sum, Numbers& logs, const WorkTile& tile, int first_token,
                             int tokens) const {
    Numbers factors;
    TW_UNROLL
    for (unsigned c = 0; c < Columns::count; ++c) {
      const bool is_used = place_of(row_of(c), tokens) >= 0;
      const float of_sink = is_used ? sink(tile, row_of(c)) : nothing;
      const float subtracted = finite(std::fmax(logs.of[c], of_sink));
      const float own = isa::ex2_approx(logs.of[c] - subtracted);
      const float total = isa::ex2_approx(of_sink - subtracted) + own;
      factors.of[c] = total == 0 ? 0 : own * (1 / total);
      logs.of[c] = subtracted + isa::lg2_approx(total);
    }
    Op::correct(sum, factors);
    TW_UNROLL
    for (unsigned c = 0; c < Columns::count; ++c) {
      const int row = row_of(c);
      if (place_of(row, tokens) < 0) continue;
      std::uint16_t* const to = output(tile, row, first_token);
      each_of_column(sum, c, [&](unsigned block, unsigned half, float value) {
        const unsigned column = column_of<Op>(block, half);
        if (static_cast<int>(column) >= params_.value_columns) return;
        store_element<Space::Global>(
            to + column, static_cast<std::uint16_t>(pack<type>(FragmentPair{value, 0})));
      });
      if (warp_ == 0 && lane_ < 4) store_log(tile, row, first_token, logs.of[c]);
    }
  }

  template <class Op, class Sum>
  TW_DEVICE void leave(const Sum& sum, const Numbers& logs, const WorkTile& tile,
                       int tokens) const {
    TW_UNROLL
    for (unsigned c = 0; c < Columns::count; ++c) {
      const int place = place_of(row_of(c), tokens);
      if (place < 0) continue;
      float* const to = row_of_part(tile, tile.part, place);
      each_of_column(sum, c, [&](unsigned block, unsigned half, float value) {
        store_element<Space::Global>(to + column_of<Op>(block, half), value);
      });
      if (lane_ < 4) store_element<Space::Global>(to + columns + warp_, logs.of[c]);
    }
  }

  // A lane joins four columns of a row.
  struct Joined {
    int row;
    int place;  // -1: nowhere
    float largest;
    float total;
    float sums[4];
  };

  // Parts are weighed and added up in their order. A lane has four columns of a row, as many rows
  // as there are lanes for are joined at once, or where one takes all lanes a few of them, and
  // several parts are on their way at once.
  TW_DEVICE void join(const WorkTile& tile, int first_token, int tokens) const {
    constexpr unsigned quads = columns / 16;  // a row has so many in the columns of the warp
    static_assert(quads <= 32);
    constexpr unsigned each = quads < 32 ? 1 : 8;  // rows of a lane
    constexpr int at_once = quads < 32 ? 8 : 2;
    const unsigned quad = lane_ % quads;
    const unsigned column = quad / 4 * 64 + 16 * warp_ + quad % 4 * 4;
    TW_ROLL
    for (unsigned first = 0; first < n; first += each * (32 / quads)) {
      Joined rows[each];
      TW_UNROLL
      for (unsigned r = 0; r < each; ++r) {
        const int row = static_cast<int>(first + r + lane_ / quads);
        rows[r].row = first_row() + row;
        rows[r].place = row < static_cast<int>(n) ? place_of(rows[r].row, tokens) : -1;
      }
      // Where the first is nowhere, all are.
      if (rows[0].place < 0) continue;
      TW_UNROLL
      for (Joined& row : rows) {
        row.largest = each > 1 && row.place < 0 ? nothing : sink(tile, row.row);
        row.total = row.largest == nothing ? 0 : 1;
        for (float& sum : row.sums) sum = 0;
      }
      TW_ROLL
      for (int part = 0; part < tile.parts; part += at_once) {
        Quad loaded[each][at_once];
        float logs[each][at_once];
        TW_UNROLL
        for (unsigned r = 0; r < each; ++r) {
          TW_UNROLL
          for (int i = 0; i < at_once; ++i) {
            const bool is_there = part + i < tile.parts;
            const bool is_somewhere = each == 1 || rows[r].place >= 0;
            const int place = is_somewhere ? rows[r].place : rows[0].place;
            const float* const from = row_of_part(tile, is_there ? part + i : part, place);
            const float log = load_element<Space::Global>(from + columns + warp_);
            logs[r][i] = is_there ? log : nothing;
            loaded[r][i] =
                load_element<Space::Global>(reinterpret_cast<const Quad*>(from + column));
          }
        }
        TW_UNROLL
        for (unsigned r = 0; r < each; ++r) add_parts(rows[r], logs[r], loaded[r]);
      }
      TW_UNROLL
      for (unsigned r = 0; r < each; ++r) {
        if (each == 1 || rows[r].place >= 0) store(rows[r], tile, first_token, column, quad);
      }
    }
    isa::warp_sync();
  }

  template <int count>
  static TW_DEVICE void add_parts(Joined& to, const float (&logs)[count],
                                  const Quad (&loaded)[count]) {
    float next = to.largest;
    TW_UNROLL
    for (int i = 0; i < count; ++i) next = std::fmax(next, logs[i]);
    const float correction = isa::ex2_approx(to.largest - finite(next));
    to.largest = next;
    to.total *= correction;
    TW_UNROLL
    for (unsigned j = 0; j < 4; ++j) to.sums[j] *= correction;
    TW_UNROLL
    for (int i = 0; i < count; ++i) {
      const float weight = isa::ex2_approx(logs[i] - finite(next));
      to.total += weight;
      TW_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        to.sums[j] = std::fma(weight, loaded[i].get(j), to.sums[j]);
      }
    }
  }

  TW_DEVICE void store(const Joined& joined, const WorkTile& tile, int first_token, unsigned column,
                       unsigned quad) const {
    const float inverse = joined.total == 0 ? 0 : 1 / joined.total;
    if (static_cast<int>(column) < params_.value_columns) {
      const Vector<std::uint32_t, 2> packed = {
          {pack<type>(FragmentPair{joined.sums[0] * inverse, joined.sums[1] * inverse}),
           pack<type>(FragmentPair{joined.sums[2] * inverse, joined.sums[3] * inverse})}};
      store_element<Space::Global>(reinterpret_cast<Vector<std::uint32_t, 2>*>(
                                       output(tile, joined.row, first_token) + column),
                                   packed);
    }
    if (warp_ == 0 && quad == 0) {
      store_log(tile, joined.row, first_token,
                finite(joined.largest) + isa::lg2_approx(joined.total));
    }
  }

  TW_DEVICE std::uint16_t* output(const WorkTile& tile, int row, int first_token) const {
    return static_cast<std::uint16_t*>(params_.output) +
           (tile.batch + head(row)) * params_.head_pitch +
           (first_token + token(row)) * params_.token_pitch;
  }
  TW_DEVICE void store_log(const WorkTile& tile, int row, int first_token, float log) const {
    if (params_.log_sums == nullptr) return;
    store_natural(log_of(tile, row, first_token), log);
  }
  // Null where nobody asks for logarithms.
  TW_DEVICE float* log_of(const WorkTile& tile, int row, int first_token) const {
    if (params_.log_sums == nullptr) return nullptr;
    const std::int64_t of_head = tile.batch + head(row);
    return params_.log_sums + of_head * params_.log_sums_pitch + first_token + token(row);
  }
  static TW_DEVICE void store_natural(float* to, float log) {
    store_element<Space::Global>(to, log * 0.693147181f);
  }
  TW_DEVICE float* row_of_part(const WorkTile& tile, int part, int place) const {
    const std::int64_t slot = std::int64_t{part} * params_.parts.slots + tile.slot;
    return params_.parts.parts + (slot * params_.parts.rows + place) * pitch;
  }
  TW_DEVICE std::uint32_t* counter(const WorkTile& tile) const {
    return params_.parts.counters + (std::int64_t{tile.slot} * groups + group_) * 4 + warp_;
  }

  const Params& params_;
  unsigned warp_;
  unsigned lane_;
  unsigned group_;
  int heads_ = 0;  // that the tile has
};

}  // namespace tw::kernel
