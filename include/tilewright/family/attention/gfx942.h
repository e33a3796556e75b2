// CDNA3, as attention uses it: copies through registers, products of single waves.
#pragma once

#include "tilewright/arch/gfx942.h"
#include "tilewright/family/attention/decode_copies.h"
#include "tilewright/family/attention/mfma_rings.h"

namespace tw {

struct Gfx942Attention : Gfx942 {
  template <HeadTile queries, HeadTile keys, HeadTile values, RoleTable roles, ElementType type,
            bool>
  using PartLoader =
      DecodeCopies<queries, keys, values, roles.load.warps, type, ThroughRegisters, roles.lanes>;
  template <HeadTile queries, HeadTile keys, HeadTile values, RoleTable roles>
  using HeadLoader = PartLoader<queries, keys, values, roles, queries.type, true>;
  template <class Queries, class Keys>
  using ScoreOp = MfmaOfTwoRings<Queries, Keys, Cdna::Three>;
  template <class Values, unsigned keys>
  using ValueOp = MfmaOfRegisters<Values, keys, Cdna::Three>;
  // A wave's products are done before it goes on: there is nothing to take turns for.
  static constexpr bool takes_turns = false;
  static constexpr bool one_loop = true;

  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    require(config.tiling.cluster.size() == 1, "CDNA has no clusters.");
    require(config.tiling.m == 64 || config.tiling.m == 128,
            "A tile has 64 rows of queries for each of one or two groups of two waves.");
    require(config.keys % 32 == 0 && config.keys >= 32 && config.keys <= 128,
            "A block has 32 to 128 keys, a multiple of 32.");
    require(config.tiling.n % 64 == 0 && config.tiling.n <= 128 && config.head == 0,
            "A head has 64 or 128 columns.");
    require(config.part_blocks == 0 || (config.tiling.m == 64 && config.tiling.n == 128),
            "Where heads share a tile, it has 64 rows by 128 columns.");
    require(config.scheduling == decltype(config.scheduling){},
            "Work is announced by transactions, which CDNA does not have.");
    const unsigned groups = config.tiling.m / 64;
    return RoleTable{.load = {0, 4}, .multiply = {4, 2 * groups}, .groups = groups}.checked();
  }
};

}  // namespace tw
