// Hopper, as attention uses it: two products of one warpgroup, the second with A from registers.
#pragma once

#include "tilewright/arch/sm90.h"
#include "tilewright/family/attention/byte_transpose.h"
#include "tilewright/family/attention/decode_loader.h"
#include "tilewright/family/attention/joined_sums.h"
#include "tilewright/family/attention/latent_program.h"
#include "tilewright/family/attention/loader.h"
#include "tilewright/family/attention/plan.h"
#include "tilewright/family/attention/swapped_program.h"
#include "tilewright/family/attention/wgmma_converted.h"
#include "tilewright/family/attention/wgmma_rings.h"
#include "tilewright/family/attention/wgmma_swapped.h"

namespace tw {

struct Sm90Attention : Sm90 {
  template <HeadTile queries, HeadTile keys, HeadTile values, RoleTable>
  using HeadLoader = AttentionLoader<queries, keys, values>;
  template <HeadTile queries, HeadTile keys, HeadTile values, RoleTable, ElementType, bool keeps>
  using PartLoader = DecodeLoader<queries, keys, values, keeps>;
  template <HeadTile queries, HeadTile keys, HeadTile values, bool keeps>
  using ClusterLoader = DecodeLoader<queries, keys, values, keeps, Sequences, true>;
  template <HeadTile queries, HeadTile keys, HeadTile values, bool keeps>
  using PagedLoader = DecodeLoader<queries, keys, values, keeps, PagedSequences>;
  template <class Queries, class Keys>
  using ScoreOp = WgmmaOfTwoRings<Queries, Keys>;
  template <class Values, unsigned keys>
  using ValueOp = WgmmaOfRegisters<Values, keys>;
  // The same where sums of several blocks add up in the tensor core, or (0) of all.
  template <class Values, unsigned keys, unsigned blocks>
  using SummedValueOp = std::conditional_t<blocks == 0, WgmmaOfRegisters<Values, keys, false>,
                                           WgmmaOfJoinedBlocks<Values, keys, blocks>>;
  // The same where keys are rows and queries columns.
  template <class Keys, class Queries, unsigned keys, unsigned queries>
  using SwappedScoreOp = WgmmaOfTwoRings<Keys, Queries, keys, queries>;
  template <class Values, unsigned queries, unsigned keys, unsigned columns>
  using SwappedValueOp = WgmmaOfValues<Values, SharedWeights<queries, keys, Values::type>, columns>;
  // The same where keys and values are e4m3, which become bf16 in registers.
  template <class Keys, class Queries, unsigned keys, unsigned queries>
  using ConvertedScoreOp = WgmmaOfConvertedKeys<Keys, Queries, keys, queries>;
  template <class Values, unsigned queries, unsigned keys, unsigned columns>
  using ConvertedValueOp =
      WgmmaOfConvertedValues<Values, SharedWeights<queries, keys, ElementType::Bf16>, columns>;
  // One group's products run while the others weigh their scores.
  static constexpr bool takes_turns = true;
  template <auto config, class Trace>
  using Store = StagedStore<config.d_type, 64, Trace, config.staged_bytes>;

  // A thread holds scores, their weights, sums, of fp8 those of a block beside, and about 30
  // registers more.
  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    const bool swaps = config.swapped != 0;
    require(swaps || (config.tiling.m % 64 == 0 && config.tiling.m / 64 >= 1 &&
                      config.tiling.m / 64 <= 3),
            "A tile has 64 rows of queries for each of one to three warpgroups.");
    require(!swaps || (config.tiling.m % 8 == 0 && config.tiling.m <= 64 && config.keys % 64 == 0 &&
                       config.part_blocks != 0),
            "Where queries are columns, a tile has 8 to 64 of them and parts of its keys, and a "
            "block 64 keys for each block of rows.");
    require(config.keys % 16 == 0 && config.keys >= 16 && config.keys <= 256,
            "A block has 16 to 256 keys, a multiple of 16.");
    const bool has_values = config.values_in_keys != 0;
    require(has_values || (config.tiling.n % 64 == 0 && config.tiling.n <= 256 &&
                           config.head_columns() % 64 == 0 && config.head_columns() <= 256),
            "A head has 64, 128, 192 or 256 columns.");
    const bool converts = config.has_bytes_of_values();
    require(!has_values || (swaps && config.from_e4m3 == 0 && config.keys == 64 &&
                            config.head_columns() % 64 == 0 && config.tiling.n % 64 == 0 &&
                            config.tiling.n <= config.head_columns()),
            "Where values are columns of keys, queries are columns, and a block has 64 keys.");
    require(!has_values || converts || config.head_columns() % (64 * config.key_slices) == 0,
            "A slice of keys of 16 bits is a multiple of 64 columns.");
    require(
        !converts || (config.slice_columns() * (config.key_slices - 1) < config.head_columns() &&
                      config.slice_columns() == 128),
        "A slice of keys of e4m3 has 128 columns, of which the last may lack 64.");
    require(
        config.e4m3_keys == 0 || (swaps && config.from_e4m3 == 0 &&
                                  (has_values || (config.keys <= 128 && config.tiling.n == 128 &&
                                                  config.head_columns() == 128))),
        "Where keys and values alone are e4m3, queries are columns, a block has 64 or 128 keys, "
        "and a head 128 columns.");
    require(config.tiling.cluster.size() == 1, "CTAs of attention share nothing.");
    const bool is_fp8 = config.e4m3_products != 0;
    require(config.from_e4m3 == config.e4m3_products,
            "TMA does not convert: elements are multiplied as they are in memory.");
    require(!is_fp8 || (((config.tiling.n % 128 == 0 && config.head_columns() % 128 == 0) ||
                         (config.tiling.n == 64 && config.head_columns() == 64)) &&
                        config.keys % 32 == 0),
            "Of e4m3 a head has 64, 128 or 256 columns, and a block a multiple of 32 keys, which a "
            "warp transposes at a time.");
    require(is_fp8 || config.summed_blocks == 1,
            "Products of e4m3 alone have sums that join in another precision.");
    require(
        !is_fp8 || (config.part_blocks == 0 && config.scheduling == decltype(config.scheduling){}),
        "Of e4m3 a tile has one head and all its keys, by a static schedule.");
    require(config.part_blocks == 0 || config.tiling.m == 64 || swaps,
            "Where heads share a tile, it has 64 rows.");
    const unsigned groups = swaps ? config.column_groups() : config.tiling.m / 64;
    const bool is_alone = config.residents == 1, is_paged = config.pages != 0;
    require(config.residents >= 1 && config.residents <= 4,
            "Up to four CTAs share an SM: it has 64 named barriers, and each may use 16.");
    require(is_alone || (groups == 1 && !is_fp8 && !is_paged && !has_values &&
                         (config.part_blocks == 0 || swaps)),
            "CTAs that share an SM have one multiplying warpgroup each, and rows of keys; where "
            "they take parts of these, queries are columns.");
    require(!is_paged || (groups == 2 && !is_fp8), "Tiles whose keys lie in pages have 128 rows.");
    // Two warps of a scheduler convert, so that one hides what the other waits for, where registers
    // suffice.
    const unsigned converting = !converts ? 0 : config.tiling.m > 16 ? 4 : 8;
    // Where values are columns of keys, the pages of a block are held for all of its slices.
    const unsigned helping = converts                  ? (groups == 2       ? 64
                                                          : converting == 4 ? 120
                                                                            : 96)
                             : !is_alone && !swaps     ? (config.residents == 2 ? 40 : 24)
                             : has_values              ? (groups == 2 ? 56 : 96)
                             : groups == 3             ? 32
                             : groups == 1 || is_paged ? 56
                             : is_fp8                  ? 40
                                                       : 24;
    // CTAs that share an SM leave a warpgroup what the helpers of its own do not keep.
    const unsigned of_cta = 512 / config.residents / (groups + 1) / 8 * 8 * (groups + 1);
    const unsigned multiplying = !is_alone     ? (of_cta - helping) / groups / 8 * 8
                                 : groups == 3 ? 160
                                 : converts    ? (groups == 2       ? 192
                                                  : converting == 4 ? 248
                                                                    : 208)
                                 : groups == 1 ? 256 - 8
                                               : (504 - helping) / 2;
    const unsigned held = swaps
                              ? (config.keys + config.tiling.n) / 128 * config.group_columns()
                              : config.keys / 2 + config.keys / (is_fp8 ? 8 : 4) +
                                    config.tiling.n / (is_fp8 && config.summed_blocks == 1 ? 1 : 2);
    require(held + 30 <= multiplying, "Scores, weights and sums must fit a thread's registers.");
    const bool asks = config.scheduling != decltype(config.scheduling){};
    return RoleTable{
        .load = {0, 1, helping},
        .schedule = {1, asks ? 1u : 0u, helping},
        .multiply = {4 + converting, 4 * groups, multiplying},
        .groups = groups,
        .own = {{value_role, {2, (config.part_blocks != 0 && !has_values) || is_paged ? 1u : 0u}},
                {converts ? convert_role : transpose_role,
                 {converts ? 4u : 1u, converts ? converting
                                      : is_fp8 ? 3u
                                               : 0u}}},
        .residents = config.residents}
        .checked();
  }
};

}  // namespace tw
