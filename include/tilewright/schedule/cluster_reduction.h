// Sums that the CTAs of a cluster make in parts: the parts travel through shared memory to the CTA
// that finishes, which adds them in their order.
#pragma once

#include <algorithm>
#include <bit>

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/pipeline/exchange.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// A row of sums, and chunks of the other parts as they come: columns must be read once, in order.
template <class Sum, class Receivers>
struct ReceivedRows : SumsLike<Sum> {
  using Value = typename Sum::Value;
  const Sum& own;
  Receivers& receivers;
  TW_DEVICE void load(int first_column, Value (&values)[32]) const {
    own.load(first_column, values);
    receivers.add(values);
  }
};

// `cluster.k` parts; each of the `warps` that hold sums sends to, or receives from, its like.
// `part_values` of a part, by each thread, of which `row_values` make a block of rows.
template <ClusterShape cluster, unsigned group_warps, unsigned warps, unsigned part_values,
          unsigned row_values = part_values>
class ClusterReduction {
  static constexpr unsigned senders = cluster.k - 1;
  static constexpr unsigned grid = cluster.m * cluster.n;
  // Room for a whole part, up to a quarter of the shared memory.
  static constexpr unsigned words = row_values % 16 == 0 ? 16 : row_values % 8 == 0 ? 8 : 4;
  static constexpr unsigned room = (56 << 10) / (senders * warps * 32 * words * 4);
  static constexpr unsigned slots = std::clamp(part_values / words, 2u, std::max(room, 2u));
  using Channels = Exchange<senders, warps, slots, words>;

 public:
  static constexpr bool in_parts = true;
  static constexpr bool in_shares = false;
  struct Params {};
  using Storage = typename Channels::Storage;
  static TW_DEVICE void init(Storage& storage) { Channels::init(storage); }

  TW_DEVICE ClusterReduction(const Params&, Storage& storage, unsigned group, unsigned thread)
      : ClusterReduction(storage, group * group_warps + thread / 32, thread % 32,
                         isa::cluster_rank()) {}

  template <class Sum>
  TW_DEVICE void deposit(const Sum& sum, const WorkTile&) {
    if constexpr (Sum::layout == FragmentLayout::Row) {
      TW_UNROLL
      for (unsigned first = 0; first < Sum::columns; first += 32) {
        typename Sum::Value row[32];
        sum.load(static_cast<int>(first), row);
        TW_UNROLL
        for (unsigned half = 0; half < 32; half += words) {
          send([&](unsigned i) { return row[half + i]; });
        }
      }
    } else {
      const TotalSums<Sum> part = copy_of(sum);
      TW_UNROLL
      for (unsigned block = 0; block < Sum::blocks; ++block) {
        TW_UNROLL
        for (unsigned first = 0; first < Sum::columns / 2; first += words) {
          send([&](unsigned i) { return part.value(block, first + i); });
        }
      }
    }
  }

  template <class Sum>
  TW_DEVICE auto collect(const Sum& sum, const WorkTile&) {
    if constexpr (Sum::layout == FragmentLayout::Row) {
      return ReceivedRows<Sum, ClusterReduction>{{}, sum, *this};
    } else {
      TotalSums<Sum> total = copy_of(sum);
      TW_UNROLL
      for (unsigned block = 0; block < Sum::blocks; ++block) {
        TW_UNROLL
        for (unsigned first = 0; first < Sum::columns / 2; first += words) {
          TW_UNROLL
          for (unsigned sender = 0; sender < senders; ++sender) {
            std::uint32_t bits[words];
            receivers_[sender].receive(bits);
            TW_UNROLL
            for (unsigned i = 0; i < words; ++i) {
              total.values[block][first + i] += std::bit_cast<typename Sum::Value>(bits[i]);
            }
          }
        }
      }
      return total;
    }
  }
  // Adds the parts of the next 32 columns of a row.
  template <class Value>
  TW_DEVICE void add(Value (&values)[32]) {
    TW_UNROLL
    for (unsigned half = 0; half < 32; half += words) {
      for (unsigned sender = 0; sender < senders; ++sender) {
        std::uint32_t bits[words];
        receivers_[sender].receive(bits);
        TW_UNROLL
        for (unsigned i = 0; i < words; ++i) values[half + i] += std::bit_cast<Value>(bits[i]);
      }
    }
  }

  TW_DEVICE void drain() {
    if (sends_) sender_.drain();
  }

 private:
  template <class Sum>
  static TW_DEVICE TotalSums<Sum> copy_of(const Sum& sum) {
    static_assert(Sum::columns / 2 % words == 0,
                  "What a cluster exchanges is whole chunks of a block's values.");
    TotalSums<Sum> copy;
    TW_UNROLL
    for (unsigned block = 0; block < Sum::blocks; ++block) {
      TW_UNROLL
      for (unsigned i = 0; i < Sum::columns / 2; ++i) copy.values[block][i] = sum.value(block, i);
    }
    return copy;
  }
  // Parts of the same tile stand `grid` ranks apart; the last finishes.
  TW_DEVICE ClusterReduction(Storage& storage, unsigned warp, unsigned lane, unsigned rank)
      : sends_(rank / grid < senders),
        sender_(storage.channels[rank / grid % senders][warp], senders * grid + rank % grid, lane) {
    TW_UNROLL
    for (unsigned sender = 0; sender < senders; ++sender) {
      receivers_[sender] = ChunkReceiver<Channels>(storage.channels[sender][warp],
                                                   sender * grid + rank % grid, lane);
    }
  }
  template <class ValueOf>
  TW_DEVICE void send(const ValueOf& value_of) {
    std::uint32_t bits[words];
    TW_UNROLL
    for (unsigned i = 0; i < words; ++i) bits[i] = std::bit_cast<std::uint32_t>(value_of(i));
    sender_.send(bits);
  }

  bool sends_;
  ChunkSender<Channels> sender_;
  ChunkReceiver<Channels> receivers_[senders];
};

}  // namespace tw
