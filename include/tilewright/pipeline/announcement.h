// A ring of 16-byte messages from one thread of a cluster to every role of all its CTAs: which work
// comes next.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/cluster_memory.h"
#include "tilewright/isa/ptx/launch_control.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/ring.h"

namespace tw {

using Message = CancelResponse;

// `listeners`: warps of a CTA that read every message, the speaker's own included. `from_launcher`:
// the launcher writes messages, for which PTX has fences that cost no device-wide memory barrier.
template <unsigned num_slots, unsigned num_listeners, ClusterShape cluster_shape,
          bool from_launcher = false>
struct Announcements {
  static constexpr bool is_restricted = from_launcher && cluster_shape.size() > 1;
  static constexpr unsigned slots = num_slots;
  static constexpr ClusterShape cluster = cluster_shape;
  static constexpr unsigned message_bytes = sizeof(Message);

  struct Storage {
    alignas(16) Message messages[slots];
    std::uint64_t full[slots];   // full[s]: arrives the speaker + 16 bytes; publishes message s;
                                 // waited by the listeners of this CTA
    std::uint64_t empty[slots];  // empty[s], of the speaker's CTA: arrives every listener of the
                                 // cluster; publishes that it has read message s; waited by the
                                 // speaker
    std::uint64_t began;         // began: arrives the load role of the speaker's CTA with each
                                 // message it begins; waited by the speaker, lest it hoard work
  };

  static TW_DEVICE void init(Storage& storage) {
    for (unsigned slot = 0; slot < slots; ++slot) {
      const SharedAddress full = isa::shared_address(&storage.full[slot]);
      const SharedAddress empty = isa::shared_address(&storage.empty[slot]);
      isa::mbarrier_init(full, 1);
      isa::mbarrier_init(empty, num_listeners * cluster.size());
      isa::describe_barrier(full, "work.full", slot);
      isa::describe_barrier(empty, "work.empty", slot);
      isa::describe_shared(isa::shared_address(&storage.messages[slot]), message_bytes, "work",
                           slot);
    }
    const SharedAddress began = isa::shared_address(&storage.began);
    isa::mbarrier_init(began, 1);
    isa::describe_barrier(began, "work.began", 0);
  }
};

// One thread of CTA 0 of the cluster.
template <class Announcements>
class Speaker {
  static constexpr unsigned ctas = Announcements::cluster.size();

 public:
  TW_DEVICE explicit Speaker(typename Announcements::Storage& storage)
      : messages_(isa::shared_address(storage.messages)),
        full_(isa::shared_address(storage.full)),
        empty_(isa::shared_address(storage.empty)),
        began_(isa::shared_address(&storage.began)) {}

  // Before the message behind work that the load role begins.
  TW_DEVICE void wait_until_begun() {
    wait_for_phase(began_, began_lap_);
    began_lap_ ^= 1;
  }
  // Waits for a free slot and announces its bytes in every CTA; `send` then brings the message to
  // `message` and the bytes to `full`, at the same offsets in every CTA.
  template <class Send>
  TW_DEVICE void announce(const Send& send) {
    wait_until_read();
    const SharedAddress full = full_ + 8 * position_.slot;
    for (unsigned rank = 0; rank < ctas; ++rank) {
      if constexpr (ctas == 1)
        isa::mbarrier_arrive_expect_tx(full, Announcements::message_bytes);
      else if constexpr (Announcements::is_restricted)
        isa::mbarrier_arrive_expect_tx_relaxed_cluster(isa::mapa(full, rank),
                                                       Announcements::message_bytes);
      else
        isa::mbarrier_arrive_expect_tx_cluster(isa::mapa(full, rank), Announcements::message_bytes);
    }
    send(messages_ + position_.slot * Announcements::message_bytes, full);
    position_.step();
  }

  // No listener signals a CTA that is gone.
  TW_DEVICE void drain() {
    for (unsigned i = 0; i < Announcements::slots; ++i) {
      wait_until_read();
      position_.step();
    }
  }

 private:
  TW_DEVICE void wait_until_read() {
    const SharedAddress empty = empty_ + 8 * position_.slot;
    if constexpr (ctas == 1) {
      wait_for_phase(empty, position_.lap ^ 1);
    } else {
      while (!isa::mbarrier_try_wait_parity_cluster(empty, position_.lap ^ 1)) {
      }
      if constexpr (Announcements::is_restricted) isa::fence_async_acquire_cluster();
    }
  }

  RingPosition<Announcements::slots, Mbarriers> position_;
  SharedAddress messages_;
  SharedAddress full_;
  SharedAddress empty_;
  SharedAddress began_;
  unsigned began_lap_ = 0;
};

// Held by the threads of one role: of a warp each (Release::Warp), or one alone (Release::Thread).
template <class Announcements, Release how>
class Listener {
  static_assert(how == Release::Warp || how == Release::Thread);
  static constexpr unsigned ctas = Announcements::cluster.size();

 public:
  TW_DEVICE Listener(typename Announcements::Storage& storage, unsigned thread)
      : messages_(isa::shared_address(storage.messages)),
        full_(isa::shared_address(storage.full)),
        empty_(isa::shared_address(storage.empty)),
        began_(isa::shared_address(&storage.began)),
        speaks_(how == Release::Thread || thread % 32 == 0) {
    if constexpr (ctas > 1) empty_ = isa::mapa(empty_, 0);
  }

  TW_DEVICE Message next() {
    const unsigned slot = position_.slot;
    wait_for_phase(full_ + 8 * slot, position_.lap);
    const Message message =
        isa::load_cancel_response(messages_ + slot * Announcements::message_bytes);
    // The next message comes through the async proxy.
    if constexpr (!Announcements::is_restricted) {
      isa::fence_proxy_async();
    }
    if constexpr (how == Release::Warp) isa::warp_sync();
    if (speaks_) {
      if constexpr (ctas == 1) {
        isa::mbarrier_arrive(empty_ + 8 * slot);
      } else if constexpr (Announcements::is_restricted) {
        isa::fence_async_release_cluster();
        isa::mbarrier_arrive_relaxed_cluster(empty_ + 8 * slot);
      } else {
        isa::mbarrier_arrive_release_cluster(empty_ + 8 * slot);
      }
    }
    position_.step();
    return message;
  }

  // The load role calls it when it has begun with the latest message.
  TW_DEVICE void begin() {
    if (ctas == 1 || isa::cluster_rank() == 0) isa::mbarrier_arrive(began_);
  }

 private:
  RingPosition<Announcements::slots, Mbarriers> position_;
  SharedAddress messages_;
  SharedAddress full_;
  SharedAddress empty_;
  SharedAddress began_;
  bool speaks_;
};

}  // namespace tw
