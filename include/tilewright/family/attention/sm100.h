// Blackwell, as attention uses it: one thread multiplies for two groups that weigh scores, and the
// epilogue corrects sums in tensor memory.
#pragma once

#include "tilewright/arch/sm100.h"
#include "tilewright/family/attention/loader.h"
#include "tilewright/family/attention/tcgen05_rings.h"
#include "tilewright/family/attention/tensor_program.h"

namespace tw {

struct Sm100Attention : Sm100 {
  struct Recipe {
    template <class Kernel>
    using Program = kernel::TensorAttention<Kernel>;
  };
  template <HeadTile queries, HeadTile keys, HeadTile values, RoleTable>
  using HeadLoader = AttentionLoader<queries, keys, values>;
  template <class Queries, class Keys>
  using ScoreOp = Tcgen05OfTwoRings<Queries, Keys>;
  template <class Values, unsigned keys>
  using ValueOp = Tcgen05OfTensorMemory<Values, keys>;
  template <auto config, class Op, class Trace>
  using Accumulators = AttentionAccumulators<config.tiling.n, config.keys>;
  static constexpr bool takes_turns = false;
  // The warps of the first group that weighs.
  static constexpr RoleArrivals clears_values = {softmax_role, 4};

  // A thread that weighs holds a row of scores. Four of the 14 warps share a quarter of an SM: each
  // thread has 128 registers.
  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.m == 256,
            "A tile has two tiles of 128 queries: the lanes of tensor memory.");
    require(
        config.keys % 16 == 0 && config.keys >= 16 && config.keys <= 80,
        "A block has 16 to 80 keys, a multiple of 16: a row of scores fits a thread's registers.");
    require(config.tiling.n % 64 == 0 && config.tiling.n <= 128 && config.head == 0,
            "A head has 64 or 128 columns.");
    require(config.tiling.cluster.size() == 1, "CTAs of attention share nothing.");
    require(config.from_e4m3 == 0 && config.e4m3_products == 0, "Elements have 16 bits.");
    require(config.part_blocks == 0 && config.swapped == 0,
            "A tile has one head and all its keys.");
    require(config.scheduling == decltype(config.scheduling){}, "A formula says what comes next.");
    return RoleTable{
        .load = {13, 1}, .multiply = {12, 1}, .epilogue = {8, 4}, .own = {{softmax_role, {0, 8}}}}
        .checked();
  }
};

}  // namespace tw
