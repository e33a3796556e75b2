// Blockwise FP8: D = epilogue(sum over blocks of 128 of k of (A B^T) * a_scale * b_scale), where a
// scale is of one row of A, or of one or 128 rows of B, and of the block. It is matmul with another
// part in every stage, the scales, and a TileOp that adds up with them.
#pragma once

#include "tilewright/family/matmul.h"
#include "tilewright/family/scaled_op.h"
#include "tilewright/io/scale_loader.h"

namespace tw {

// A page of arch/, with scales. `b_rows` of B share one.
template <class ArchPage, unsigned b_rows>
struct BlockwisePage : ArchPage {
  // As the page itself multiplies, which knows of no promotion.
  static constexpr MatmulConfig plain(MatmulConfig config) {
    config.promote_every = 0;
    return config;
  }
  template <Tiling tiling, RoleTable roles>
  using Side = ScaleLoader<tiling, b_rows, roles.side.warps>;
  // Sums that are handed over are added up by who takes them.
  template <class Whole, Tiling, unsigned>
  struct OpOf {
    using Type = Whole;
  };
  template <class Whole, Tiling tiling, unsigned stage_bytes>
  requires requires { typename Whole::Piece; }
  struct OpOf<Whole, tiling, stage_bytes> {
    using Type = ScaledOp<Whole, ScaleLoader<tiling, b_rows, 1>::b_columns, tiling, stage_bytes>;
  };
  template <MatmulConfig config, Tiling tiling, unsigned stage_bytes>
  using Op = typename OpOf<typename ArchPage::template Op<plain(config), tiling, stage_bytes>,
                           tiling, stage_bytes>::Type;

  static consteval RoleTable roles(const MatmulConfig& config) {
    require(config.promote_every == 1, "promote_every must be 1: scales are of a stage's k.");
    return ArchPage::roles(plain(config)).with_side();
  }
};

// `Named` carries the configuration and b_scale_rows: 1 or 128.
template <class ArchPage, class Named>
using BlockwiseFp8 = Matmul<BlockwisePage<ArchPage, Named::b_scale_rows>, Named>;

}  // namespace tw
