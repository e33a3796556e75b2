// Numbers that warps of the CTAs of a cluster exchange once in a launch: every CTA has numbers of
// all, and gets its share of everybody's.
#pragma once

#include <algorithm>
#include <bit>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/cluster_memory.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/pipeline/mbarrier.h"

namespace tw {

struct NumberPair {
  float first;
  float second;
};

// A cluster has up to `most_ctas` CTAs, a power of two. Each thread of `warps` warps has `units`
// pairs of numbers. CTA r gets the units r, r + ctas, r + 2 ctas and so on of every CTA, thread by
// thread: pairs go to the same thread.
template <unsigned num_warps, unsigned num_units, unsigned most>
struct Shares {
  static constexpr unsigned warps = num_warps;
  static constexpr unsigned units = num_units;
  static constexpr unsigned most_ctas = most;
  static constexpr unsigned slots = std::max(units, most_ctas);
  static constexpr unsigned line_bytes = 32 * 4;  // a number of each lane
  static constexpr unsigned slot_bytes = 2 * line_bytes;
  static_assert(std::has_single_bit(most_ctas));
  static_assert(units % most_ctas == 0 || most_ctas % units == 0, "Slots would lie out of range.");

  struct Storage {
    // (lane, number, slot): of each unit that the CTA gets, those of all CTAs in their order.
    alignas(16) unsigned char pairs[warps][slots * slot_bytes];
    std::uint64_t full[warps];  // full[w]: arrives warp w + the bytes of its share; publishes
                                // pairs[w]; waited by warp w
  };

  static TW_DEVICE void init(Storage& storage) {
    for (unsigned warp = 0; warp < warps; ++warp) {
      const SharedAddress full = isa::shared_address(&storage.full[warp]);
      isa::mbarrier_init(full, 1);
      isa::describe_barrier(full, "share.full", warp);
      isa::describe_shared(isa::shared_address(storage.pairs[warp]), slots * slot_bytes, "share",
                           warp);
    }
  }
};

// One warp's. Nobody may write twice where another reads: a launch exchanges once. A CTA has its
// whole share before it ends, so that nobody writes into one that is gone.
template <class Shares>
class ShareExchange {
 public:
  TW_DEVICE ShareExchange(typename Shares::Storage& storage, unsigned thread)
      : pairs_(isa::shared_address(storage.pairs[thread / 32]) + thread % 32 * 4),
        full_(isa::shared_address(&storage.full[thread / 32])),
        speaks_(thread % 32 == 0) {}

  // All threads of the warp, in each of the `ctas`.
  template <class PairOf>
  TW_DEVICE void send(unsigned rank, unsigned ctas, const PairOf& pair_of) const {
    TW_UNROLL
    for (unsigned unit = 0; unit < Shares::units; ++unit) {
      const unsigned to = unit & (ctas - 1);
      const SharedAddress slot = isa::mapa(pairs_ + (unit - to + rank) * Shares::slot_bytes, to);
      const SharedAddress full = isa::mapa(full_, to);
      const NumberPair pair = pair_of(unit);
      isa::st_async(slot, std::bit_cast<std::uint32_t>(pair.first), full);
      isa::st_async(slot + Shares::line_bytes, std::bit_cast<std::uint32_t>(pair.second), full);
    }
  }

  // How many units the CTA gets.
  static TW_DEVICE unsigned share(unsigned rank, unsigned ctas) {
    return (Shares::units + ctas - 1 - rank) / ctas;
  }
  // Until the share of the CTA is there.
  TW_DEVICE void receive(unsigned rank, unsigned ctas) const {
    const unsigned units = share(rank, ctas);
    if (units == 0) return;
    if (speaks_) {
      isa::mbarrier_arrive_expect_tx(full_, units * ctas * Shares::slot_bytes);
      wait_for_phase(full_, 0);
    }
    isa::warp_sync();
  }
  // What CTA `rank` sent of the CTA's unit number `index`.
  TW_DEVICE NumberPair pair(unsigned index, unsigned rank, unsigned ctas) const {
    const SharedAddress slot = pairs_ + (index * ctas + rank) * Shares::slot_bytes;
    return {std::bit_cast<float>(isa::load_shared_4(slot)),
            std::bit_cast<float>(isa::load_shared_4(slot + Shares::line_bytes))};
  }

 private:
  SharedAddress pairs_;
  SharedAddress full_;
  bool speaks_;
};

}  // namespace tw
