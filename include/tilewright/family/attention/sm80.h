// Ampere and Ada, as attention uses them: copies by threads, products of single warps.
#pragma once

#include "tilewright/arch/sm80.h"
#include "tilewright/family/attention/copies.h"
#include "tilewright/family/attention/decode_copies.h"
#include "tilewright/family/attention/mma_rings.h"

namespace tw {

struct Sm80Attention : Sm80 {
  template <HeadTile queries, HeadTile keys, HeadTile values, RoleTable roles>
  using HeadLoader = AttentionCopies<queries, keys, values, roles.load.warps>;
  template <HeadTile queries, HeadTile keys, HeadTile values, RoleTable roles, ElementType type,
            bool>
  using PartLoader = DecodeCopies<queries, keys, values, roles.load.warps, type, ByCpAsync>;
  template <class Queries, class Keys>
  using ScoreOp = MmaOfTwoRings<Queries, Keys>;
  template <class Values, unsigned keys>
  using ValueOp = MmaOfRegisters<Values, keys>;
  // A warp's products are done before it goes on: there is nothing to take turns for.
  static constexpr bool takes_turns = false;

  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.cluster.size() == 1, "CTAs of attention share nothing.");
    require(config.tiling.m == 64 || config.tiling.m == 128,
            "A tile has 64 rows of queries for each of one or two groups of four warps.");
    require(config.keys % 16 == 0 && config.keys >= 16 && config.keys <= 128,
            "A block has 16 to 128 keys, a multiple of 16.");
    require(config.tiling.n % 64 == 0 && config.tiling.n <= 128 && config.head == 0,
            "A head has 64 or 128 columns.");
    require(config.part_blocks == 0 || config.tiling.m == 64,
            "Where heads share a tile, it has 64 rows.");
    require(config.scheduling == decltype(config.scheduling){},
            "Work is announced by transactions, which need sm_90.");
    const unsigned groups = config.tiling.m / 64;
    return RoleTable{.load = {0, 4}, .multiply = {4, 4 * groups}, .groups = groups}.checked();
  }
};

}  // namespace tw
