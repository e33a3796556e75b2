// Rows of attention whose keys are taken in parts: parts are weighed by their exponentials' sums
// and joined in their order, whatever the order in which they came.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/thread_rows.h"
#include "tilewright/isa/counter.h"
#include "tilewright/isa/exponential.h"
#include "tilewright/isa/threads.h"
#include "tilewright/layout/access.h"
#include "tilewright/layout/element.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// The parts of a group of 64 rows by `columns`. Each warp leaves and joins its own rows. What a row
// gets does not depend on how many of the last parts it sees nothing of: these weigh zero.
template <unsigned columns, unsigned lanes = 32>
class SoftmaxParts {
  using Pair = Vector<float, 2>;
  static constexpr int each = lanes;  // the parts of which each lane has one

 public:
  // A row of a part: its columns, the logarithm of its sum, and nothing up to 16 bytes.
  static constexpr unsigned pitch = columns + 4;
  static constexpr int warp_rows = lanes / 2;
  struct Params {
    std::uint32_t* counters;  // (warp, slot): 0 before the launch, and again after it
    float* parts;             // (pitch, row, slot, part)
    int rows;                 // in each part
    int slots;                // for all tiles
  };

  TW_DEVICE SoftmaxParts(const Params& params, unsigned thread)
      : params_(params), thread_(thread), lane_(thread % lanes) {}

  // `places` are the rows of a part where a thread's two rows lie; -1: nowhere. Logarithms are to
  // the base 2.
  template <class Sum>
  TW_DEVICE void deposit(const Sum& sum, const RowPair& logs, const WorkTile& tile,
                         const int (&places)[2]) {
    leave(sum, logs, tile, places);
    isa::warp_sync();
    if (lane_ == 0) isa::global_add_release(counter(tile), 1);
  }

  // The last part joins all, when the others are there: a row at a time, by all lanes. It is one of
  // at least two. `place_of` tells where the warp's row lies, -1 for none, `sink_of` its sink, a
  // natural score; `store(row, column, pair)` and `store_log(row, log)` get what comes of it.
  template <class Sum, class PlaceOf, class SinkOf, class Store, class StoreLog>
  TW_DEVICE void join(const Sum& sum, const RowPair& logs, const WorkTile& tile,
                      const int (&places)[2], const PlaceOf& place_of, const SinkOf& sink_of,
                      const Store& store, const StoreLog& store_log) const {
    leave(sum, logs, tile, places);
    if (lane_ == 0) {
      isa::global_wait_at_least(counter(tile), static_cast<unsigned>(tile.parts - 1));
    }
    isa::warp_sync();
    TW_ROLL
    for (int row = 0; row < warp_rows; ++row) {
      if (const int place = place_of(row); place >= 0) {
        const auto to = [&](unsigned column, const Pair& pair) { store(row, column, pair); };
        const float log = join_row(tile, place, sink_of(row) * log2_of_e, to);
        if (lane_ == 0) store_log(row, log);
      }
    }
    if (lane_ == 0) isa::global_store_release(counter(tile), 0);
  }

  // Where there is one part, what its rows are multiplied by; `logs` become those with the sinks.
  static TW_DEVICE RowPair alone(float (&logs)[2], const float (&sinks)[2]) {
    float factors[2];
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const float sink = sinks[half] * log2_of_e;
      const float subtracted = finite(std::fmax(logs[half], sink));
      const float own = isa::ex2_approx(logs[half] - subtracted);
      const float total = isa::ex2_approx(sink - subtracted) + own;
      factors[half] = total == 0 ? 0 : own * (1 / total);
      logs[half] = subtracted + isa::lg2_approx(total);
    }
    return {factors[0], factors[1]};
  }

 private:
  static constexpr float log2_of_e = 1.44269504f;
  static TW_DEVICE float finite(float log) { return log < -3.4e38f ? 0 : log; }

  template <class Sum>
  TW_DEVICE void leave(const Sum& sum, const RowPair& logs, const WorkTile& tile,
                       const int (&places)[2]) const {
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      if (places[half] < 0) continue;
      float* const to = row_of_part(tile, tile.part, places[half]);
      TW_UNROLL
      for (unsigned pair = 0; pair < columns / 8; ++pair) {
        const unsigned i = ThreadRows<Sum>::value_of(half, 2 * pair);
        store_element<Space::Global>(reinterpret_cast<Pair*>(to + Sum::column_of(thread_, i)),
                                     Pair{{sum.value(0, i), sum.value(0, i + 1)}});
      }
      if (ThreadRows<Sum>::speaks(lane_)) {
        store_element<Space::Global>(to + columns, half == 0 ? logs.upper : logs.lower);
      }
    }
  }

  // Weights and sums come in the order of parts. A lane has the weight of every 32nd part (64th in
  // a wave), and a pair of every 64 columns (128); columns of several parts are on their way at
  // once.
  template <class Store>
  TW_DEVICE float join_row(const WorkTile& tile, int place, float sink, const Store& store) const {
    const int parts = tile.parts;
    const int lane = static_cast<int>(lane_);
    const auto log_of = [&](int part) {
      return part < parts ? load_element<Space::Global>(row_of_part(tile, part, place) + columns)
                          : -std::numeric_limits<float>::infinity();
    };
    static_assert(columns % (2 * lanes) == 0, "All lanes join equally many pairs.");
    constexpr unsigned pairs = columns / (2 * lanes);  // that a lane joins
    constexpr int at_once = 8;
    Pair loaded[at_once][pairs];
    const auto load = [&](int first) {
      TW_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const float* const from = row_of_part(tile, first + i < parts ? first + i : first, place);
        TW_UNROLL
        for (unsigned pair = 0; pair < pairs; ++pair) {
          loaded[i][pair] = load_element<Space::Global>(
              reinterpret_cast<const Pair*>(from + 2 * lanes * pair + 2 * lane_));
        }
      }
    };
    load(0);  // on their way while the logarithms are weighed
    const float own_log = log_of(lane);
    const auto logs_from = [&](int first) { return first == 0 ? own_log : log_of(first + lane); };
    float largest = std::fmax(sink, own_log);
    for (int part = lane + each; part < parts; part += each) {
      largest = std::fmax(largest, log_of(part));
    }
    TW_UNROLL
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
      largest = std::fmax(largest, of_lane(largest, lane_ ^ distance));
    }
    const float subtracted = finite(largest);
    float total = isa::ex2_approx(sink - subtracted);
    for (int first = 0; first < parts; first += each) {
      const float weight = isa::ex2_approx(logs_from(first) - subtracted);
      for (int i = 0; i < each && first + i < parts; ++i) {
        total += of_lane(weight, static_cast<unsigned>(i));
      }
    }
    const float inverse = total == 0 ? 0 : 1 / total;
    float joined[2 * pairs] = {};
    float weight = 0;
    TW_ROLL
    for (int first = 0; first < parts; first += at_once) {
      if (first % each == 0) weight = isa::ex2_approx(logs_from(first) - subtracted) * inverse;
      if (first > 0) load(first);
      TW_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const float of_part = of_lane(weight, static_cast<unsigned>(first % each + i));
        if (first + i >= parts) continue;
        TW_UNROLL
        for (unsigned pair = 0; pair < pairs; ++pair) {
          TW_UNROLL
          for (unsigned j = 0; j < 2; ++j) {
            float& sum = joined[2 * pair + j];
            sum = std::fma(of_part, loaded[i][pair].get(j), sum);
          }
        }
      }
    }
    TW_UNROLL
    for (unsigned pair = 0; pair < pairs; ++pair) {
      store(2 * lanes * pair + 2 * lane_, Pair{{joined[2 * pair], joined[2 * pair + 1]}});
    }
    return subtracted + isa::lg2_approx(total);
  }

  static TW_DEVICE float of_lane(float value, unsigned lane) {
    return std::bit_cast<float>(isa::shuffle(std::bit_cast<std::uint32_t>(value), lane));
  }
  TW_DEVICE float* row_of_part(const WorkTile& tile, int part, int place) const {
    const std::int64_t slot = std::int64_t{part} * params_.slots + tile.slot;
    return params_.parts + (slot * params_.rows + place) * pitch;
  }
  TW_DEVICE std::uint32_t* counter(const WorkTile& tile) const {
    return params_.counters + std::int64_t{tile.slot} * 4 + thread_ / lanes;
  }

  const Params& params_;
  unsigned thread_;
  unsigned lane_;
};

}  // namespace tw
