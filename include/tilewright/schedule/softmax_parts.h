// Rows of attention whose keys are taken in parts: parts are weighed by their exponentials' sums
// and joined in their order, whatever the order in which they came.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/counter.h"
#include "tilewright/isa/exponential.h"
#include "tilewright/isa/threads.h"
#include "tilewright/layout/access.h"
#include "tilewright/layout/element.h"
#include "tilewright/op/wgmma.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// Of a group of 64 rows by `columns`. Each warp leaves and joins its own rows. What a row gets does
// not depend on how many of the last parts it sees nothing of: these weigh zero.
template <unsigned columns>
class SoftmaxParts {
  using Pair = Vector<float, 2>;

 public:
  // A row of a part: its columns, the logarithm of its sum, and nothing up to 16 bytes.
  static constexpr unsigned pitch = columns + 4;
  struct Params {
    std::uint32_t* counters;  // (warp, slot): 0 before the launch, and again after it
    float* parts;             // (pitch, row, slot, part)
    int rows;                 // of each part
    int slots;                // of all tiles
  };

  TW_DEVICE SoftmaxParts(const Params& params, unsigned thread)
      : params_(params), thread_(thread), lane_(thread % 32) {}

  // `places` are the rows of a part where a thread's two rows lie; -1: nowhere. Logarithms are to
  // the base 2.
  template <class Sum>
  TW_DEVICE void deposit(const Sum& sum, const RowPair& logs, const WorkTile& tile,
                         const int (&places)[2]) {
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      if (places[half] < 0) continue;
      float* const to = row_of_part(tile, tile.part, places[half]);
      TW_UNROLL
      for (unsigned i = 2 * half; i < columns / 2; i += 4) {
        store_element<Space::Global>(reinterpret_cast<Pair*>(to + Sum::column_of(thread_, i)),
                                     Pair{{sum.value(0, i), sum.value(0, i + 1)}});
      }
      if (lane_ % 4 == 0) {
        store_element<Space::Global>(to + columns, half == 0 ? logs.upper : logs.lower);
      }
    }
    isa::warp_sync();
    if (lane_ == 0) isa::global_add_release(counter(tile), 1);
  }

  // Waits for the other parts. `logs` are of the own part, and become those of all; `sinks` are
  // natural scores.
  template <class Sum>
  TW_DEVICE void collect(Sum& sum, float (&logs)[2], const float (&sinks)[2], const WorkTile& tile,
                         const int (&places)[2]) {
    if (tile.parts > 1) {
      if (lane_ == 0) {
        isa::global_wait_at_least(counter(tile), static_cast<unsigned>(tile.parts - 1));
        isa::global_store_release(counter(tile), 0);
      }
      isa::warp_sync();
    }
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      if (places[half] >= 0) join(sum.values(0), half, logs[half], sinks[half], tile, places[half]);
    }
  }

 private:
  TW_DEVICE void join(float (&values)[columns / 2], unsigned half, float& log, float sink,
                      const WorkTile& tile, int place) const {
    const auto log_of = [&](int part) {
      return load_element<Space::Global>(row_of_part(tile, part, place) + columns);
    };
    const float sink_log = sink * 1.44269504f;
    const int others = tile.parts - 1;
    float largest = std::fmax(log, sink_log);
    for (int part = 0; part < others; ++part) largest = std::fmax(largest, log_of(part));
    const float subtracted = largest < -3.4e38f ? 0 : largest;
    float total = isa::ex2_approx(sink_log - subtracted);
    for (int part = 0; part < others; ++part) total += isa::ex2_approx(log_of(part) - subtracted);
    const float own = isa::ex2_approx(log - subtracted);
    total += own;
    const float inverse = total == 0 ? 0 : 1 / total;
    float joined[columns / 4] = {};
    TW_ROLL
    for (int part = 0; part < others; ++part) {
      const float* const from = row_of_part(tile, part, place);
      const float weight = isa::ex2_approx(log_of(part) - subtracted) * inverse;
      TW_UNROLL
      for (unsigned i = 0; i < columns / 8; ++i) {
        const unsigned column = RegisterAccumulator<1, columns>::column_of(thread_, 4 * i);
        const Pair pair = load_element<Space::Global>(reinterpret_cast<const Pair*>(from + column));
        joined[2 * i] = std::fma(weight, pair.get(0), joined[2 * i]);
        joined[2 * i + 1] = std::fma(weight, pair.get(1), joined[2 * i + 1]);
      }
    }
    TW_UNROLL
    for (unsigned i = 0; i < columns / 4; ++i) {
      float& value = values[i / 2 * 4 + 2 * half + i % 2];
      value = std::fma(own * inverse, value, joined[i]);
    }
    log = subtracted + isa::lg2_approx(total);
  }

  TW_DEVICE float* row_of_part(const WorkTile& tile, int part, int place) const {
    const std::int64_t slot = std::int64_t{part} * params_.slots + tile.slot;
    return params_.parts + (slot * params_.rows + place) * pitch;
  }
  TW_DEVICE std::uint32_t* counter(const WorkTile& tile) const {
    return params_.counters + std::int64_t{tile.slot} * 4 + thread_ / 32;
  }

  const Params& params_;
  unsigned thread_;
  unsigned lane_;
};

}  // namespace tw
