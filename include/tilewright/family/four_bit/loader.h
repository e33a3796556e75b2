// TileIO: packed weights by plain copies of whole blocks, activations by TMA.
#pragma once

#include "tilewright/family/four_bit/stage.h"
#include "tilewright/io/tma_loader.h"
#include "tilewright/isa/ptx/bulk_copy.h"

namespace tw {

// Weights are A. Nobody shares them; CTAs that stand above each other share activations, unless
// another role brings those.
template <Tiling tiling, PackedWeights packed, bool brings_rows = true>
class FourBitLoader : public UsualLoader {
  static_assert(tiling.cluster.n == 1 && tiling.group == 1,
                "Packed weights are one CTA's: CTAs share activations alone.");
  static constexpr OperandTile b_tile = {tiling.n,       tiling.spans,     tiling.span_k(),
                                         tiling.b_major, tiling.cluster.m, tiling.n};
  using Blocks = StageBlocks<tiling, packed>;
  struct Rows {
    TensorMap b;  // (k, n, batch)
  };
  struct NoRows {};

 public:
  struct Params : std::conditional_t<brings_rows, Rows, NoRows> {
    const unsigned char* weights;
    std::int64_t batch_bytes;  // from one matrix of the batch to the next
    int row_blocks;            // each 64 features
    int k_blocks;              // each 128 of k
  };
  static constexpr bool elected = true;  // one thread issues the copies
  static constexpr Completion completion = Completion::TransactionBytes;
  static constexpr unsigned arrivals = 1;
  static constexpr unsigned stages_held = 0;
  static constexpr unsigned least_alignment = 16;
  static constexpr bool loads_weights_first = tiling.weights_first != 0;
  static constexpr bool loads_rows = brings_rows;
  static constexpr Tiling in_shared() { return tiling; }
  static constexpr TmaBox box_b() { return b_tile.box(); }

  TW_DEVICE FourBitLoader(const Params& params, unsigned /*thread*/)
      : params_(params), rank_(rank_in<tiling.cluster>()) {
    if constexpr (brings_rows) isa::prefetch_tensormap(&params.b);
  }

  // k counts stages.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    load_weights(stage, tile, k);
    if constexpr (brings_rows) load_rest(stage, tile, k);
  }

  // Loads beyond the last block read the last one: rows there are not stored, and activations
  // along k are zero.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_weights(const Stage& stage, const WorkTile& tile, int k) {
    const unsigned char* const matrix = params_.weights + tile.batch * params_.batch_bytes;
    const int first_row = tile.first_row(tiling.m) / static_cast<int>(PackedWeights::rows);
    const int first_k = k * static_cast<int>(Blocks::along_k);
    const auto codes = stage.tensors().codes;
    TW_UNROLL
    for (unsigned row = 0; row < Blocks::along_m; ++row) {
      const int row_block = std::min(first_row + static_cast<int>(row), params_.row_blocks - 1);
      const unsigned char* const line =
          matrix + std::int64_t{row_block} * params_.k_blocks * packed.block_bytes();
      if (first_k + static_cast<int>(Blocks::along_k) <= params_.k_blocks) {
        copy(codes.address(0u, 0u, row), line, first_k, Blocks::row_bytes, stage.full());
      } else {
        TW_UNROLL
        for (unsigned i = 0; i < Blocks::along_k; ++i) {
          copy(codes.address(0u, i, row), line,
               std::min(first_k + static_cast<int>(i), params_.k_blocks - 1), packed.block_bytes(),
               stage.full());
        }
      }
    }
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_rest(const Stage& stage, const WorkTile& tile, int k) {
    OperandCopy<b_tile, 1, isa::CacheHint::EvictNormal>::load(
        stage.tensors().b, &params_.b, stage.full(), tile.first_column(tiling.n),
        k * static_cast<int>(tiling.k()), tile.batch, tiling.cluster.row(rank_),
        tiling.cluster.column_mask(rank_));
  }

  TW_DEVICE void finish() {}

 private:
  static constexpr isa::CacheHint hint =
      tiling.a_evict_first != 0 ? isa::CacheHint::EvictFirst : isa::CacheHint::EvictNormal;
  static TW_DEVICE void copy(SharedAddress to, const unsigned char* line, int block, unsigned bytes,
                             CopySignal full) {
    isa::cp_async_bulk_load(to, line + std::int64_t{block} * packed.block_bytes(), bytes, full,
                            hint);
  }

  const Params& params_;
  unsigned rank_;
};

}  // namespace tw
