// Which part of a CTA's tile a wave multiplies, and what all TileOps of single waves have in
// common. The waves stand as waves.m by waves.n over the tile.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/stage.h"
#include "tilewright/op/contracts.h"
#include "tilewright/op/warp_grid.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

template <Tiling tiling, WarpGrid waves, unsigned stage_bytes>
class WaveGrid : public UsualOp {
 public:
  static constexpr bool elected = false;
  static constexpr Release release = Release::Warp;
  static constexpr unsigned stages_held = 0;  // fragments are in registers when multiply() returns
  static constexpr unsigned releases = waves.size();
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % lanes; }
  static TW_DEVICE bool leads() { return true; }

 protected:
  static constexpr unsigned lanes = 64;
  static constexpr unsigned rows = tiling.m / waves.m;
  static constexpr unsigned columns = tiling.n / waves.n;
  static_assert(rows % 32 == 0 && columns % 16 == 0, "A wave multiplies blocks of 32 by 16.");
  using Tensors = OperandTensors<tiling, stage_bytes>;

  TW_DEVICE WaveGrid(const Tensors& stages, unsigned thread)
      : stages_(stages),
        lane_(thread % lanes),
        row_(thread / lanes / waves.n * rows),
        column_(thread / lanes % waves.n * columns) {}

  Tensors stages_;
  unsigned lane_;
  unsigned row_;
  unsigned column_;
};

}  // namespace tw
