// A stage of packed weights and activations: its memory, and the same as tensors.
#pragma once

#include "tilewright/io/stage.h"
#include "tilewright/layout/packed_weights.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// Blocks of packed weights that a stage holds: some along k for each 64 features.
template <Tiling tiling, PackedWeights packed>
struct StageBlocks {
  static_assert(tiling.k() % PackedWeights::k == 0 && tiling.m % PackedWeights::rows == 0,
                "A stage holds whole blocks of packed weights: 64 features by 128 of k.");
  static constexpr unsigned along_k = tiling.k() / PackedWeights::k;
  static constexpr unsigned along_m = tiling.m / PackedWeights::rows;
  static constexpr unsigned row_bytes = along_k * packed.block_bytes();
};

template <Tiling tiling, PackedWeights packed>
struct FourBitTiles {
  alignas(1024) unsigned char b[tiling.b_bytes()];
  alignas(1024) unsigned char a[StageBlocks<tiling, packed>::along_m *
                                StageBlocks<tiling, packed>::row_bytes];
};

// One stage, or with `stage_bytes` from one to the next all stages of a ring.
template <Tiling tiling, PackedWeights packed, unsigned stage_bytes = 0>
struct FourBitTensors {
  using Blocks = StageBlocks<tiling, packed>;
  // (index,block along k,block of features), of a ring with the stage behind them, in units.
  static constexpr Layout in_blocks(const Layout& block, unsigned unit_bytes) {
    return in_stages(from_modes(block, single(Blocks::along_k, packed.block_bytes() / unit_bytes),
                                single(Blocks::along_m, Blocks::row_bytes / unit_bytes)),
                     stage_bytes, unit_bytes);
  }
  // ((thread,span),...) and (record,...).
  static constexpr Layout code_layout =
      in_blocks(from_modes(single(128, 1), single(2, PackedWeights::span_bytes / 16)), 16);
  static constexpr Layout record_layout =
      in_blocks(single(PackedWeights::rows / 2, 1), packed.record_bytes());
  static constexpr Layout b_layout =
      in_stages(tiling.b_layout(), stage_bytes, bytes_of(tiling.b_type));
  using B = SharedTile<Element<tiling.b_type>, b_layout>;
  using Codes = SharedTile<Chunk<16>, code_layout>;
  using Records = SharedTile<Chunk<packed.record_bytes()>, record_layout>;
  using Tiles = FourBitTiles<tiling, packed>;
  static constexpr unsigned a_at = offsetof(Tiles, a);

  B b;  // (n,k,span), of a ring (n,k,span,stage)
  Codes codes;
  Records records;

  TW_DEVICE explicit FourBitTensors(SharedAddress first_stage)
      : b(first_stage),
        codes(b.template at_distance<Codes>(a_at)),
        records(codes.template at_distance<Records>(PackedWeights::code_bytes)) {}
};

// The same with the scales of activations, which may be none.
template <Tiling tiling, PackedWeights packed, class Scales>
struct FourBitStage : FourBitTiles<tiling, packed>, Scales::Tile {};
template <Tiling tiling, PackedWeights packed, class Scales, unsigned stage_bytes = 0>
struct FourBitStageTensors : FourBitTensors<tiling, packed, stage_bytes>,
                             Scales::template Tensors<stage_bytes> {
  using ScaleTensors = typename Scales::template Tensors<stage_bytes>;
  TW_DEVICE explicit FourBitStageTensors(SharedAddress first_stage)
      : FourBitTensors<tiling, packed, stage_bytes>(first_stage),
        ScaleTensors(this->b.template at_distance<ScaleTensors>(
            unsigned{sizeof(FourBitTiles<tiling, packed>)})) {}
};

template <Tiling tiling, PackedWeights packed, class Loader, class Scales, RoleArrivals reads,
          RoleArrivals adds>
struct FourBitPayload {
  static constexpr Space space = Space::Shared;
  static constexpr const char* name = "input";
  static constexpr const char* full_name = "input.full";
  static constexpr const char* empty_name = "input.empty";
  using Tiles = FourBitStage<tiling, packed, Scales>;
  using StageTensors = FourBitStageTensors<tiling, packed, Scales>;
  using RingTensors = FourBitStageTensors<tiling, packed, Scales, unsigned{sizeof(Tiles)}>;
  static constexpr RoleArrivals loads = {Role::Load, Loader::arrivals};
  static constexpr RoleArrivals brings = {Role::LoadScales, Scales::arrivals};
  using Operands = FourBitTiles<tiling, packed>;
  static constexpr Part parts[3] = {{sizeof(Operands::a), Loader::completion, loads, {reads}},
                                    {sizeof(Operands::b),
                                     Loader::loads_rows ? Loader::completion : Scales::completion,
                                     Loader::loads_rows ? loads : brings,
                                     {reads}},
                                    {sizeof(typename Scales::Tile),
                                     Scales::completion,
                                     brings,
                                     {Scales::arrivals > 0 ? adds : RoleArrivals{}}}};
};

}  // namespace tw
