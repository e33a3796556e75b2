// Dynamic schedulers: an idle cluster fetches the next work tile. One role of the cluster asks for
// it, from a counter in global memory or from the launcher, and announces it to all others.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/counter.h"
#include "tilewright/pipeline/announcement.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// A counter shared by all clusters; the grid is what fits the device at once.
template <ClusterShape cluster, class Map>
struct AtomicTickets {
  static constexpr bool one_wave = true;
  static constexpr bool draws_tickets = true;
  static constexpr bool from_launcher = false;
  struct Params {
    typename Map::Params map;
    std::uint32_t* counter;  // 0 before the launch, and again after it
    int work;                // work tiles of the launch
  };
  // Says in `message` which work comes next, in all CTAs of the cluster.
  static TW_DEVICE void send(const Params& params, SharedAddress message, SharedAddress full) {
    const std::uint32_t clusters = isa::cta_count() / cluster.size();
    const std::uint32_t ticket = isa::global_fetch_add(params.counter, 1);
    const std::uint32_t work = static_cast<std::uint32_t>(params.work);
    // Each cluster draws one ticket past the end; the last drawer resets the counter.
    if (ticket + 1 == work) isa::global_store_release(params.counter, 0);
    const std::uint32_t index = ticket + clusters;
    const std::uint32_t words[4] = {index < work ? 1u : 0u, index, 0, 0};
    for (unsigned rank = 0; rank < cluster.size(); ++rank) {
      isa::st_async(isa::mapa(message, rank), words, isa::mapa(full, rank));
    }
  }
  static TW_DEVICE bool more(const Message& message) {
    return static_cast<std::uint32_t>(message.words[0]) != 0;
  }
  static TW_DEVICE int index(const Message& message) {
    return static_cast<int>(message.words[0] >> 32);
  }
  static TW_DEVICE const typename Map::Params& map(const Params& params) { return params.map; }
};

// Cluster launch control: the grid has a CTA for every tile, and a running cluster takes over the
// work of one that has not started.
template <ClusterShape cluster, class Map>
struct LaunchControl {
  static constexpr bool one_wave = false;
  static constexpr bool draws_tickets = false;
  static constexpr bool from_launcher = true;
  struct Params {
    typename Map::Params map;
  };
  static TW_DEVICE void send(const Params&, SharedAddress message, SharedAddress full) {
    if constexpr (cluster.size() == 1)
      isa::try_cancel(message, full);
    else
      isa::try_cancel_multicast(message, full);
  }
  static TW_DEVICE bool more(const Message& message) { return isa::query_is_canceled(message); }
  static TW_DEVICE int index(const Message& message) {
    return static_cast<int>(isa::query_first_cta_x(message) / cluster.size());
  }
  static TW_DEVICE const typename Map::Params& map(const Params& params) { return params.map; }
};

template <ClusterShape cluster, class Map, template <ClusterShape, class> class Tickets,
          unsigned listeners>
struct Dynamic {
  using Source = Tickets<cluster, Map>;
  using Board = Announcements<2, listeners, cluster, Source::from_launcher>;
  using Params = typename Source::Params;
  using Storage = typename Board::Storage;
  static constexpr bool one_wave = Source::one_wave;
  static constexpr bool draws_tickets = Source::draws_tickets;
  // Some maps have less work than is handed out, and read from memory what there is.
  static constexpr bool may_lack = requires(const Map& map) { map.offers(0); };
  static constexpr bool knows_first = !may_lack;

  static TW_DEVICE void init(Storage& storage) { Board::init(storage); }

  template <Release how>
  class Reader {
   public:
    TW_DEVICE Reader(const Params& params, Storage& storage, unsigned thread)
        : map_(Source::map(params)), listener_(storage, thread) {}

    struct End {};
    struct Iterator {
      Reader* reader;
      int index;
      TW_DEVICE WorkTile operator*() const { return reader->map_.tile(index); }
      TW_DEVICE Iterator& operator++() {
        index = reader->there(reader->take());
        return *this;
      }
      TW_DEVICE bool operator!=(End) const { return index >= 0; }
    };
    struct Range {
      Reader* reader;
      // The first work needs no message: it is the cluster's own.
      TW_DEVICE Iterator begin() const { return {reader, reader->there(own())}; }
      TW_DEVICE End end() const { return {}; }
    };
    TW_DEVICE Range tiles(const kernel::Key&) { return {this}; }

    // Every work that is handed out, for the role that asks for it: whether it is there.
    struct Offer {
      Reader* reader;
      int index;
      TW_DEVICE bool operator*() const { return reader->is_there(index); }
      TW_DEVICE Offer& operator++() {
        index = reader->take();
        return *this;
      }
      TW_DEVICE bool operator!=(End) const { return index >= 0; }
    };
    struct Offers {
      Reader* reader;
      TW_DEVICE Offer begin() const { return {reader, own()}; }
      TW_DEVICE End end() const { return {}; }
    };
    TW_DEVICE Offers offers(const kernel::Key&) { return {this}; }
    TW_DEVICE void begin() { listener_.begin(); }
    // Where the launcher is asked: reads which work follows before the work at hand is begun, so
    // that nobody waits for it afterwards. Not by who loads: the next work is asked for when that
    // role has begun. One message alone, though its work may not be there: those behind it come
    // when who loads has heard it, and that role may wait for the work at hand.
    TW_DEVICE void look_ahead() {
      if constexpr (Source::from_launcher) ahead_ = next();
    }

   private:
    static constexpr int none = -1, unread = -2;
    static TW_DEVICE int own() { return static_cast<int>(isa::cta_index() / cluster.size()); }
    // Where less work is there than is handed out, all roles pass over the same.
    TW_DEVICE bool is_there(int index) const {
      if constexpr (may_lack) return map_.offers(index);
      return true;
    }
    TW_DEVICE int there(int index) {
      if constexpr (may_lack) {
        while (index >= 0 && !is_there(index)) index = take();
      }
      return index;
    }
    TW_DEVICE int next() {
      const Message message = listener_.next();
      return Source::more(message) ? Source::index(message) : none;
    }
    TW_DEVICE int take() {
      if (ahead_ == unread) return next();
      const int taken = ahead_;
      ahead_ = unread;
      return taken;
    }

    Map map_;
    Listener<Board, how> listener_;
    int ahead_ = unread;
  };

  // The schedule role of the cluster's first CTA: asks for the next work. Its trace records how
  // long it waits before it asks, and how long until it has an answer.
  template <class Trace>
  class Asker {
   public:
    TW_DEVICE Asker(const Params& params, Storage& storage, Trace trace)
        : params_(params), speaker_(storage), trace_(trace) {}
    // `begins`: the work at hand is there, so that who loads begins with it.
    TW_DEVICE void ask(bool begins) {
      trace_.releases();
      trace_.waits(0);
      if (begins) speaker_.wait_until_begun();
      speaker_.announce(
          [&](SharedAddress message, SharedAddress full) { Source::send(params_, message, full); });
      trace_.goes();
    }
    TW_DEVICE void drain() { speaker_.drain(); }

   private:
    const Params& params_;
    Speaker<Board> speaker_;
    Trace trace_;
  };
};

}  // namespace tw
