// CDNA4 for elements with block scales: as Gfx950, with products that take them.
#pragma once

#include "tilewright/arch/gfx950.h"
#include "tilewright/io/packed_loader.h"
#include "tilewright/op/mfma_scaled.h"

namespace tw {

struct Gfx950Scaled : Gfx950 {
  template <Tiling tiling, RoleTable roles>
  using Loader = std::conditional_t<
      bits_in(tiling.a_type) == 8 && bits_in(tiling.b_type) == 8, Gfx950::Loader<tiling, roles>,
      PackedLoader<tiling, roles.load.warps, Completion::WarpsArrive, roles.lanes>>;
  // `Scales` are the tensors that a stage has beside A and B.
  template <auto config, Tiling tiling, unsigned stage_bytes>
  struct Op {
    template <class Scales>
    using With = MfmaScaledOp<tiling, WarpGrid{2, 2}, stage_bytes, Scales>;
  };
};

}  // namespace tw
