// The static persistent scheduler: cluster c takes cluster tiles c, c + clusters, c + 2 clusters,
// ...
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/cluster.h"
#include "tilewright/isa/ptx/sreg.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// In which order tiles are taken: `group` lines of tiles side by side, so that a wave reads few
// rows of A and few columns of B and finds them in the L2. AlongM sweeps m fastest within the
// group.
enum class Raster : unsigned { AlongM, AlongN };

template <ClusterShape cluster>
class StaticPersistent {
 public:
  struct Params {
    int tiles_m;  // in clusters
    int tiles_n;
    int k_tiles;
    int group;
    Raster raster;
  };

  TW_DEVICE explicit StaticPersistent(const Params& params)
      : params_(params), rank_(rank_in<cluster>()) {}

  struct Iterator {
    const StaticPersistent* schedule;
    int index;
    TW_DEVICE WorkTile operator*() const { return schedule->tile(index); }
    TW_DEVICE Iterator& operator++() {
      index += static_cast<int>(isa::cta_count() / cluster.size());
      return *this;
    }
    TW_DEVICE bool operator!=(Iterator end) const { return index < end.index; }
  };
  struct Range {
    const StaticPersistent* schedule;
    TW_DEVICE Iterator begin() const {
      return {schedule, static_cast<int>(isa::cta_index() / cluster.size())};
    }
    TW_DEVICE Iterator end() const {
      return {schedule, schedule->params_.tiles_m * schedule->params_.tiles_n};
    }
  };

  // Only skeletons hold a Key.
  TW_DEVICE Range work(const kernel::Key&) const { return {this}; }

 private:
  TW_DEVICE WorkTile tile(int index) const {
    const bool along_m = params_.raster == Raster::AlongM;
    const int fast = along_m ? params_.tiles_m : params_.tiles_n;
    const int slow = along_m ? params_.tiles_n : params_.tiles_m;
    const int band_size = params_.group * slow;
    const int band = index / band_size;
    const int first = band * params_.group;
    const int width = fast - first < params_.group ? fast - first : params_.group;
    const int in_band = index - band * band_size;
    const int slow_index = in_band / width;
    const int fast_index = first + in_band - slow_index * width;
    const int m = along_m ? fast_index : slow_index;
    const int n = along_m ? slow_index : fast_index;
    return {m * static_cast<int>(cluster.m) + static_cast<int>(cluster.row(rank_)),
            n * static_cast<int>(cluster.n) + static_cast<int>(cluster.column(rank_)), 0,
            params_.k_tiles};
  }

  const Params& params_;
  unsigned rank_;
};

}  // namespace tw
