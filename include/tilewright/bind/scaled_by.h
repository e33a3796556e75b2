// Recipes with scales of blocks of 128 of k: D = epilogue(sum over blocks of (A B^T) * a_scale *
// b_scale), where a scale is of one row of A, or of one or 128 rows of B, and of the block. Any
// recipe is so with another part in every stage, the scales, and a TileOp that adds up with them.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/bind/scaled_op.h"
#include "tilewright/bind/wave_scaled_op.h"
#include "tilewright/io/scale_loader.h"
#include "tilewright/io/wave_scale_loader.h"

namespace tw {

// `b_rows` rows of the caller's B share a scale: 1 or 128, or, with swap_ab, none has one: 0.
template <unsigned b_rows, class Recipe = MatmulRecipe>
struct ScaledBy : Recipe {
  static constexpr unsigned b_scale_rows = b_rows;
  // The target itself multiplies as if nothing were promoted.
  static constexpr MatmulConfig asked(const MatmulConfig& given) {
    MatmulConfig config = Recipe::asked(given);
    config.promote_every = 0;
    return config;
  }
  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    require(config.promote_every == 1, "promote_every must be 1: scales are of a stage's k.");
    const RoleTable table = Recipe::roles(given, asked(config));
    RoleTable with_scales = table.with(Role::LoadScales);
    // Stages of small tiles are short: warps that bring scales apart keep up with them, and take
    // more registers than the least.
    const bool is_small = config.group_rows() * config.tiling.n <= 64 * 128;
    if (table.shifts_registers() && table.load.registers < apart_registers && is_small) {
      with_scales.load.registers = apart_registers;
      with_scales.multiply.registers = 232;
    }
    return with_scales;
  }
  static constexpr unsigned apart_registers = 40;
  template <Tiling tiling, unsigned warps, bool apart = false>
  using ScalesBy = ScaleLoader<tiling, tiling.swap_ab != 0 ? 1 : b_rows, warps,
                               tiling.swap_ab != 0 ? b_rows : 1, apart>;
  template <Tiling tiling, RoleTable table>
  using Scales = ScalesBy<tiling, table.spec_of(Role::LoadScales).warps,
                          (table.load.registers >= apart_registers)>;
  // If accumulators go to an epilogue role (tcgen05), that role applies the scales; the op is
  // plain.
  template <class Whole, Tiling, unsigned>
  struct OpOf {
    using Type = Whole;
  };
  template <class Whole, Tiling tiling, unsigned stage_bytes>
  requires(!Whole::elected) struct OpOf<Whole, tiling, stage_bytes> {
    using Scales = ScalesBy<tiling, 1>;
    using Type = ScaledOp<Whole, Scales::b_columns, typename Scales::template Tensors<stage_bytes>,
                          Scales::row_step>;
  };
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op = typename OpOf<typename Recipe::template Op<TargetOp, tiling, stage_bytes>, tiling,
                           stage_bytes>::Type;
};

// The same on targets whose sums stay in waves and whose copies do not signal: of the four waves
// that load, one brings the scales.
template <unsigned b_rows, class Recipe = MatmulRecipe>
struct WaveScaledBy : ScaledBy<b_rows, Recipe> {
  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    require(config.tiling.swap_ab == 0, "Waves have no swap_ab.");
    RoleTable fewer = given;
    --fewer.load.warps;
    return ScaledBy<b_rows, Recipe>::roles(fewer, config);
  }
  template <Tiling tiling, RoleTable table>
  using Scales = WaveScaleLoader<tiling, b_rows, table.spec_of(Role::LoadScales).warps>;
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op =
      WaveScaledOp<typename Recipe::template Op<TargetOp, tiling, stage_bytes>,
                   WaveScaleLoader<tiling, b_rows, 1>::b_columns,
                   typename WaveScaleLoader<tiling, b_rows, 1>::template Tensors<stage_bytes>>;
};

}  // namespace tw
