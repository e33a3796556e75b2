// Recipes with block scales: D = epilogue(sum over k of (A a_scale) (B b_scale)^T), where a scale
// is of one row and of 32 (ue8m0) or 16 (ue4m3) of k: MXFP8, MXFP6, MXFP4 and NVFP4. Any recipe is
// so with two more parts in every stage, the scales, a loader that brings them too, and a TileOp
// that hands them to the tensor core.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/io/block_scales.h"
#include "tilewright/op/tcgen05_scaled.h"

namespace tw {

// A stage goes on into tensor memory, where its scales have a place: who takes a stage fences as
// for a sum there.
template <Tiling tiling, class Loader, class Scales, RoleArrivals reads>
struct BlockScaledPayload : MatmulPayload<tiling, Loader, Scales, reads, RoleArrivals{}> {
  using MatmulPayload<tiling, Loader, Scales, reads, RoleArrivals{}>::loads;
  static constexpr Space space = Space::Tensor;
  // Copies count what they read: elements that get a byte each in shared memory, as they are
  // packed.
  static constexpr unsigned bytes(unsigned rows, ElementType type) {
    return rows * tiling.k() * bits_in(type) / 8;
  }
  static constexpr Part parts[4] = {
      {bytes(tiling.m, tiling.a_type), Loader::completion, loads, {reads}},
      {bytes(tiling.b_rows(), tiling.b_type), Loader::completion, loads, {reads}},
      {sizeof(Scales::Tile::a_scales), Loader::completion, loads, {reads}},
      {sizeof(Scales::Tile::b_scales), Loader::completion, loads, {reads}},
  };
};

// A matmul's, where every stage finds columns for its scales.
template <class Kernel>
struct BlockScaledProgram : kernel::OneProduct<Kernel> {
  static_assert(Kernel::stages * Kernel::Op::slot_columns <= Kernel::Accumulators::scale_columns,
                "The scales of all stages must fit the columns of tensor memory beside the sums.");

  // A tile that begins in the middle of a block of scales: a column of tensor memory is of 32 rows.
  struct Multiplies : kernel::OneProduct<Kernel>::Multiplies {
    using Base = typename kernel::OneProduct<Kernel>::Multiplies;
    using Base::Base;
    template <class Sum>
    TW_DEVICE void multiply(Sum& sum, const WorkTile& part, const kernel::Key& key) {
      constexpr unsigned n = Kernel::tiling.n;
      if constexpr (n % ScaleBlock::rows != 0) {
        sum.to_first_column = static_cast<unsigned>(part.first_column(n)) % ScaleBlock::rows / 32;
      }
      Base::multiply(sum, part, key);
    }
  };
};

template <ScaleType type, class Recipe = MatmulRecipe>
struct BlockScaledBy : Recipe {
  static constexpr BlockScaling block_scaling = BlockScaling::InTensorCores;
  static constexpr ScaleType block_scale_type = type;
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig& config) {
    require(config.promote_every == 0, "Sums with block scales stay in tensor memory.");
    require(config.tiling.swap_ab == 0 && config.tiling.loaded_rows == 0,
            "Operands with block scales are loaded whole, without swap_ab.");
    return Recipe::roles(table, config);
  }
  template <class Target, Tiling tiling, RoleTable table>
  using Loader = BlockScaledLoader<tiling, type>;
  template <Tiling tiling, RoleTable>
  using Scales = BlockScales<tiling, type>;
  template <Tiling tiling, class Loader, class Scales, RoleArrivals reads, RoleArrivals>
  using Payload = BlockScaledPayload<tiling, Loader, Scales, reads>;
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op = Tcgen05ScaledOp<tiling, stage_bytes, BlockScales<tiling, type>>;
  template <class Kernel>
  using Program = BlockScaledProgram<Kernel>;
};

}  // namespace tw
