// Values that warps of one CTA send to the same warps of another CTA of the cluster, chunk by
// chunk, through the receiver's shared memory.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/cluster_memory.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/ring.h"

namespace tw {

// `senders` CTAs send to one; in each, `warps` warps have a lane of their own. A chunk is `words`
// of each thread, by four. A sender waits for nobody as long as there are slots.
template <unsigned num_senders, unsigned num_warps, unsigned num_slots, unsigned num_words = 16>
struct Exchange {
  static_assert(num_words % 4 == 0, "Words travel by four.");
  static constexpr unsigned senders = num_senders;
  static constexpr unsigned warps = num_warps;
  static constexpr unsigned slots = num_slots;
  static constexpr unsigned words = num_words;
  static constexpr unsigned chunk_bytes = 32 * words * 4;

  // One warp and one sender share it: the receiver's chunks and `full`, the sender's `empty`.
  struct Channel {
    alignas(16) unsigned char chunks[slots][chunk_bytes];
    std::uint64_t full[slots];   // full[s]: arrives the receiving warp + the bytes of a chunk;
                                 // publishes chunk s; waited by the receiving warp
    std::uint64_t empty[slots];  // empty[s]: arrives the receiving warp, from its CTA; publishes
                                 // that chunk s was read; waited by the sending warp
  };
  struct Storage {
    Channel channels[senders][warps];
  };

  static TW_DEVICE void init(Storage& storage) {
    for (unsigned sender = 0; sender < senders; ++sender) {
      for (unsigned warp = 0; warp < warps; ++warp) {
        Channel& channel = storage.channels[sender][warp];
        for (unsigned slot = 0; slot < slots; ++slot) {
          const SharedAddress full = isa::shared_address(&channel.full[slot]);
          const SharedAddress empty = isa::shared_address(&channel.empty[slot]);
          isa::mbarrier_init(full, 1);
          isa::mbarrier_init(empty, 1);
          isa::describe_barrier(full, "part.full", slot);
          isa::describe_barrier(empty, "part.empty", slot);
          isa::describe_shared(isa::shared_address(channel.chunks[slot]), chunk_bytes, "part",
                               slot);
        }
      }
    }
  }
};

// A warp of a CTA that sends.
template <class Exchange>
class ChunkSender {
 public:
  TW_DEVICE ChunkSender(typename Exchange::Channel& own, unsigned receiver, unsigned lane)
      : chunks_(isa::mapa(isa::shared_address(own.chunks), receiver) + lane * 16),
        full_(isa::mapa(isa::shared_address(own.full), receiver)),
        empty_(isa::shared_address(own.empty)),
        waits_(lane == 0) {}

  TW_DEVICE void send(const std::uint32_t (&values)[Exchange::words]) {
    wait();
    const SharedAddress chunk = chunks_ + position_.slot * Exchange::chunk_bytes;
    TW_UNROLL
    for (unsigned i = 0; i < Exchange::words; i += 4) {
      // 16 bytes of each lane, side by side.
      const std::uint32_t quad[4] = {values[i], values[i + 1], values[i + 2], values[i + 3]};
      isa::st_async(chunk + i / 4 * 512, quad, full_ + 8 * position_.slot);
    }
    position_.step();
  }
  // The receiver signals no CTA that is gone.
  TW_DEVICE void drain() {
    for (unsigned i = 0; i < Exchange::slots; ++i) {
      wait();
      position_.step();
    }
  }

 private:
  // One lane waits for all: ptxas takes a wait of each for divergence, and serialises wgmma.
  TW_DEVICE void wait() {
    if (waits_) {
      const SharedAddress empty = empty_ + 8 * position_.slot;
      while (!isa::mbarrier_try_wait_parity_cluster(empty, position_.lap ^ 1)) {
      }
    }
    isa::warp_sync();
  }

  RingPosition<Exchange::slots, Mbarriers> position_;
  SharedAddress chunks_;
  SharedAddress full_;
  SharedAddress empty_;
  bool waits_;
};

// The same warp of the CTA that receives.
template <class Exchange>
class ChunkReceiver {
 public:
  ChunkReceiver() = default;
  TW_DEVICE ChunkReceiver(typename Exchange::Channel& own, unsigned sender, unsigned lane)
      : chunks_(isa::shared_address(own.chunks) + lane * 16),
        full_(isa::shared_address(own.full)),
        empty_(isa::mapa(isa::shared_address(own.empty), sender)),
        speaks_(lane == 0) {}

  TW_DEVICE void receive(std::uint32_t (&values)[Exchange::words]) {
    const SharedAddress full = full_ + 8 * position_.slot;
    if (speaks_) {
      isa::mbarrier_arrive_expect_tx(full, Exchange::chunk_bytes);
      wait_for_phase(full, position_.lap);
    }
    isa::warp_sync();
    const SharedAddress chunk = chunks_ + position_.slot * Exchange::chunk_bytes;
    TW_UNROLL
    for (unsigned i = 0; i < Exchange::words; i += 4) {
      std::uint32_t quad[4];
      isa::load_shared_16(quad, chunk + i / 4 * 512);
      TW_UNROLL
      for (unsigned j = 0; j < 4; ++j) values[i + j] = quad[j];
    }
    isa::warp_sync();
    if (speaks_) isa::mbarrier_arrive_release_cluster(empty_ + 8 * position_.slot);
    position_.step();
  }

 private:
  RingPosition<Exchange::slots, Mbarriers> position_;
  SharedAddress chunks_ = 0;
  SharedAddress full_ = 0;
  SharedAddress empty_ = 0;
  bool speaks_ = false;
};

}  // namespace tw
