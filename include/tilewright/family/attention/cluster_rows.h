// Rows of attention with few queries whose parts of keys are the CTAs of a cluster: sums travel
// through shared memory, and each CTA joins and stores its share of them.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/decode_tiles.h"
#include "tilewright/family/attention/swapped_rows.h"
#include "tilewright/isa/exponential.h"
#include "tilewright/pipeline/shares.h"

namespace tw::kernel {

// A thread's sums, each with the logarithm of its column, are joined by the threads that have the
// same rows and columns in the other CTAs. Parts are weighed and added up in their order. Where the
// first of a CTA's share goes is found while keys are on their way: nothing waits for parameters
// behind the last product.
template <ElementType type, unsigned columns, unsigned n>
class ClusterHeads : public SwappedHeads<type, columns, n, 1, true> {
  using Base = SwappedHeads<type, columns, n, 1, true>;
  using Base::finite;
  using Base::nothing;
  using typename Base::Columns;
  using typename Base::Numbers;
  static constexpr unsigned of_column = 2 * columns / 64;  // values of a thread

 public:
  using Base::Base;
  using Exchanged = Shares<4, Columns::count * of_column, cluster_parts>;

  // Before the keys of the tile are there.
  template <class Op>
  TW_DEVICE void begin(const WorkTile& tile, int first_token) {
    this->find_heads(tile);
    first_ = place<Op>(tile, first_token, static_cast<unsigned>(tile.part));
  }

  template <class Op, class Sum, class Softmax>
  TW_DEVICE void finish(Sum& sum, Softmax& softmax, const WorkTile& tile, int first_token,
                        const ShareExchange<Exchanged>& exchange) const {
    Op::correct(sum, softmax.finish());
    const Numbers logs = softmax.log2_sums();
    const auto rank = static_cast<unsigned>(tile.part), ctas = static_cast<unsigned>(tile.parts);
    exchange.send(rank, ctas, [&](unsigned unit) {
      const unsigned c = unit / of_column, half = unit % 2;
      const float value = sum.value(unit % of_column / 2, c / 2 * 4 + c % 2 + 2 * half);
      return NumberPair{value, logs.of[c]};
    });
    Place to = first_;
    exchange.receive(rank, ctas);
    TW_ROLL
    for (unsigned i = 0, unit = rank; unit < Exchanged::units; ++i) {
      NumberPair parts[cluster_parts];
      TW_UNROLL
      for (unsigned part = 0; part < cluster_parts; ++part) {
        parts[part] = part < ctas ? exchange.pair(i, part, ctas) : NumberPair{0, nothing};
      }
      store(join(parts, to.sink), to);
      unit += ctas;
      if (unit < Exchanged::units) to = place<Op>(tile, first_token, unit);
    }
  }

 private:
  // Where a value goes: nowhere, if null.
  struct Place {
    std::uint16_t* value;
    float* log;
    float sink;
  };
  template <class Op>
  TW_DEVICE Place place(const WorkTile& tile, int first_token, unsigned unit) const {
    const int row = this->row_of(unit / of_column);
    if (unit >= Exchanged::units || this->place_of(row, tile.m_end - first_token) < 0) return {};
    const unsigned value = unit % of_column;
    const unsigned column = this->template column_of<Op>(value / 2, value % 2);
    Place found = {nullptr, nullptr, this->sink(tile, row)};
    if (static_cast<int>(column) < this->params_.value_columns) {
      found.value = this->output(tile, row, first_token) + column;
    }
    if (value == 0 && this->warp_ == 0 && this->lane_ < 4) {
      found.log = this->log_of(tile, row, first_token);
    }
    return found;
  }

  struct Joined {
    float value;
    float log;  // to the base 2
  };
  static TW_DEVICE Joined join(const NumberPair (&parts)[cluster_parts], float sink) {
    float largest = sink;
    TW_UNROLL
    for (const NumberPair& part : parts) largest = std::fmax(largest, part.second);
    float total = isa::ex2_approx(sink - finite(largest)), joined = 0;
    TW_UNROLL
    for (const NumberPair& part : parts) {
      const float weight = isa::ex2_approx(part.second - finite(largest));
      total += weight;
      joined = std::fma(weight, part.first, joined);
    }
    return {total == 0 ? 0 : joined * (1 / total), finite(largest) + isa::lg2_approx(total)};
  }

  static TW_DEVICE void store(const Joined& joined, const Place& to) {
    if (to.value != nullptr) {
      store_element<Space::Global>(
          to.value, static_cast<std::uint16_t>(pack<type>(FragmentPair{joined.value, 0})));
    }
    if (to.log != nullptr) Base::store_natural(to.log, joined.log);
  }

  Place first_ = {};
};

}  // namespace tw::kernel
