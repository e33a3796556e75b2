// The static persistent scheduler: cluster c takes work c, c + clusters, c + 2 clusters, ...
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/cluster.h"
#include "tilewright/isa/ptx/sreg.h"
#include "tilewright/pipeline/consumer.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// `Map` says what work `index` is.
template <ClusterShape cluster, class Map>
struct StaticPersistent {
  static constexpr bool one_wave = true;  // the grid is what fits the device at once
  using Params = typename Map::Params;
  struct Storage {};
  static TW_DEVICE void init(Storage&) {}

  // Each role counts for itself.
  template <Release>
  class Reader {
   public:
    TW_DEVICE Reader(const Params& params, Storage&, unsigned /*thread*/) : map_(params) {}

    struct Iterator {
      const Map* map;
      int index;
      TW_DEVICE WorkTile operator*() const { return map->tile(index); }
      TW_DEVICE Iterator& operator++() {
        index += static_cast<int>(isa::cta_count() / cluster.size());
        return *this;
      }
      struct End {};
      TW_DEVICE bool operator!=(End) const { return map->has(index); }
    };
    struct Range {
      const Map* map;
      TW_DEVICE Iterator begin() const {
        return {map, static_cast<int>(isa::cta_index() / cluster.size())};
      }
      TW_DEVICE typename Iterator::End end() const { return {}; }
    };

    // Only skeletons hold a Key.
    TW_DEVICE Range tiles(const kernel::Key&) { return {&map_}; }
    TW_DEVICE void begin() {}

   private:
    Map map_;
  };
};

}  // namespace tw
