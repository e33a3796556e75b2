// Weights of four bits by activations: a product with swap_ab whose weights are packed, and whose
// TileOp converts them.
#pragma once

#include "tilewright/bind/grouped_by.h"
#include "tilewright/bind/scaled_by.h"
#include "tilewright/bind/thread_recipe.h"
#include "tilewright/family/four_bit/gather.h"
#include "tilewright/family/four_bit/loader.h"
#include "tilewright/family/four_bit/op.h"
#include "tilewright/family/four_bit/unpacking_loader.h"
#include "tilewright/pipeline/fenced_op.h"

namespace tw {

// Scales come with the weights: nobody else brings them. Tiles begin where blocks do.
struct ScalesInBlocks : NoScales {
  static constexpr unsigned row_step = PackedWeights::rows;
};

// The same where weights are B.
struct ScalesInColumnBlocks : NoScales {
  static constexpr unsigned column_step = PackedWeights::rows;
};

// Rows of a tile that one warpgroup multiplies, as the target's TileOp is told.
template <class Op>
constexpr unsigned rows_of_op = 0;
template <Tiling tiling, unsigned rows, unsigned stage_bytes>
constexpr unsigned rows_of_op<WgmmaOp<tiling, rows, stage_bytes>> = rows;

template <WeightFormat format, unsigned group, ElementType activation>
inline constexpr PackedWeights packed_for = {format, activation, group};

template <WeightFormat format, unsigned group>
struct FourBitBy : MatmulRecipe {
  static constexpr bool gathers = false;
  template <Tiling tiling>
  static constexpr PackedWeights weights = packed_for<format, group, tiling.b_type>;
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig& config) {
    require(config.tiling.swap_ab != 0 && config.promote_every == 0,
            "Packed weights are A, from registers: with swap_ab, and sums of the tensor core.");
    require(config.consumers != Consumers::PingPong && config.initial_c == 0,
            "Groups that multiply packed weights share tiles, and sums begin at zero.");
    return table;
  }
  template <class Target, Tiling tiling, RoleTable>
  using Loader = FourBitLoader<tiling, packed_for<format, group, tiling.b_type>>;
  template <Tiling, RoleTable>
  using Scales = ScalesInBlocks;
  template <Tiling tiling, class Scales>
  using Stage = FourBitStage<tiling, packed_for<format, group, tiling.b_type>, Scales>;
  template <Tiling tiling, class Loader, class Scales, RoleArrivals reads, RoleArrivals adds>
  using Payload =
      FourBitPayload<tiling, packed_for<format, group, tiling.b_type>, Loader, Scales, reads, adds>;
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op = FourBitOp<tiling, packed_for<format, group, tiling.b_type>, rows_of_op<TargetOp>,
                       stage_bytes>;
};

// The same for few rows of activations.
template <WeightFormat format, unsigned group>
struct FewRowsBy : FourBitBy<format, group> {
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op = FourBitWarpOp<tiling, packed_for<format, group, tiling.b_type>, rows_of_op<TargetOp>,
                           stage_bytes>;
};

// The same where weights are B and become numbers on their way to shared memory, so that any TileOp
// multiplies them.
template <WeightFormat format, unsigned group>
struct UnpackedBy : MatmulRecipe {
  static constexpr bool gathers = false;
  template <Tiling tiling>
  static constexpr PackedWeights weights = packed_for<format, group, tiling.b_type>;
  template <Tiling tiling, unsigned warps, Completion how>
  using Unpacking = UnpackingLoader<tiling, packed_for<format, group, tiling.b_type>, warps, how>;
  using Threads = ThreadRecipe<MatmulRecipe, Unpacking>;
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig& config) {
    return Threads::roles(table, config);
  }
  template <Tiling, RoleTable>
  using Scales = ScalesInColumnBlocks;
  template <class Target, Tiling tiling, RoleTable table>
  using Loader = typename Threads::template Loader<Target, tiling, table>;
};

// Any of these on Hopper whose rows of activations are gathered, by the warps that elsewhere bring
// scales.
template <class Recipe>
struct GatheredBy : Recipe {
  static constexpr bool gathers = true;
  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    RoleTable table = Recipe::roles(given, config).with(Role::LoadScales);
    table.own[0].spec.warps = 2;
    table.load.registers = 56;
    table.multiply.registers = config.multiply_groups == 3 ? 152 : 224;
    return table;
  }
  template <class Target, Tiling tiling, RoleTable>
  using Loader = FourBitLoader<tiling, Recipe::template weights<tiling>, false>;
  template <Tiling tiling, RoleTable table>
  using Scales = RowLoader<tiling, table.spec_of(Role::LoadScales).warps>;
  // Products that still read a stage when multiply() returns are those of the async proxy.
  template <class Whole>
  using Fenced = std::conditional_t<(Whole::stages_held > 0), FencedOp<Whole>, Whole>;
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op = Fenced<typename Recipe::template Op<TargetOp, tiling, stage_bytes>>;
};

// Activations have a scale for each row and 128 of k, with which partial sums join the sums.
template <WeightFormat format, unsigned group>
using ScaledFourBitBy = ScaledBy<0, FourBitBy<format, group>>;

using FourBitConfig = MatmulConfig;
template <class Page, class Recipe, class Named>
using FourBit = Kernel<Page, Recipe, Named>;

}  // namespace tw
