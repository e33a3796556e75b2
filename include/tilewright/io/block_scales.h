// TileIO: a stage of A and B whose blocks of k have scales, with these scales. Scales come in
// blocks as the tensor core takes them: 128 rows by four, 512 bytes, k first. The scale of row r
// and block s of k is byte
//
//   16 (r % 32) + 4 (r % 128 / 32) + s % 4  of block (s / 4, r / 128).
#pragma once

#include <cstddef>

#include "tilewright/io/tma_loader.h"
#include "tilewright/number/scale_blocks.h"

namespace tw {

// What a stage has beside A and B. CTAs that multiply as one have the scales of their own rows of
// A, and of all rows of B.
template <Tiling tiling, ScaleType scale_type>
struct BlockScales {
  static constexpr ScaleType type = scale_type;
  static constexpr unsigned k_blocks = tiling.k() / (ScaleBlock::scales * block_of(type));
  static constexpr unsigned a_blocks = tiling.m / ScaleBlock::rows;  // blocks of rows
  // A tile of 64 or 192 columns may begin in the middle of a block, and then ends with one.
  static constexpr unsigned b_blocks = (tiling.n + ScaleBlock::rows - 1) / ScaleBlock::rows;
  static_assert(tiling.m % ScaleBlock::rows == 0 && tiling.n % (ScaleBlock::rows / 2) == 0,
                "Scales come for 128 rows: a tile's m must be a multiple of 128, its n of 64.");
  static_assert(tiling.k() % (ScaleBlock::scales * block_of(type)) == 0,
                "Scales come by fours: a stage's k must be a multiple of four blocks.");

  struct Tile {
    alignas(128) unsigned char a_scales[a_blocks * k_blocks * ScaleBlock::bytes];
    alignas(128) unsigned char b_scales[b_blocks * k_blocks * ScaleBlock::bytes];
  };
  // (byte,k block,row block): a copy brings the blocks of k of 128 rows.
  static constexpr Layout layout(unsigned row_blocks) {
    constexpr std::int64_t bytes = ScaleBlock::bytes;
    return from_modes(single(bytes, 1), single(k_blocks, bytes),
                      single(row_blocks, k_blocks * bytes));
  }
  // One stage, or with `stage_bytes` from one to the next all stages of a ring.
  template <unsigned stage_bytes = 0>
  struct Tensors {
    using A = SharedTile<std::uint8_t, in_stages(layout(a_blocks), stage_bytes, 1)>;
    using B = SharedTile<std::uint8_t, in_stages(layout(b_blocks), stage_bytes, 1)>;
    A a_scales;  // in a ring (byte,k block,row block,stage)
    B b_scales;
    TW_DEVICE explicit Tensors(SharedAddress tile)
        : a_scales(tile + unsigned{offsetof(Tile, a_scales)}),
          b_scales(tile + unsigned{offsetof(Tile, b_scales)}) {}
  };

  // The loader brings them with A and B: no role of their own does.
  struct Params {};
  static constexpr Completion completion = Completion::TransactionBytes;
  static constexpr unsigned arrivals = 0;
  // Tiles begin at multiples of them.
  static constexpr unsigned row_step = 1;
  static constexpr unsigned column_step =
      tiling.n % ScaleBlock::rows == 0 ? ScaleBlock::rows : ScaleBlock::rows / 2;
};

// Packed pairs of e2m1 are bytes to TMA, and what it unpacks takes a byte for each element.
constexpr Tiling in_bytes(Tiling tiling) {
  tiling.a_type = tiling.b_type = ElementType::E4m3;
  return tiling;
}

template <Tiling tiling, ScaleType type>
class BlockScaledLoader : public TmaLoader<in_bytes(tiling)> {
  using Base = TmaLoader<in_bytes(tiling)>;
  using Scales = BlockScales<tiling, type>;

 public:
  // Maps of scales (256 pairs of bytes, blocks of k, blocks of rows of all matrices of the batch),
  // and how many blocks of rows a matrix has.
  struct Params : Base::Params {
    TensorMap a_scales;
    TensorMap b_scales;
    int a_row_blocks;
    int b_row_blocks;
  };
  static constexpr bool loads_own_first = false;  // 'load' has more than the base's
  static constexpr Tiling in_shared() { return tiling; }
  static constexpr TmaBox scale_box() { return {ScaleBlock::bytes / 2, Scales::k_blocks}; }

  TW_DEVICE BlockScaledLoader(const Params& params, unsigned thread)
      : Base(params, thread), scales_(params) {
    isa::prefetch_tensormap(&params.a_scales);
    isa::prefetch_tensormap(&params.b_scales);
  }

  // k counts stages.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    Base::load(stage, tile, k);
    const auto tensors = stage.tensors();
    copy<Scales::a_blocks>(tensors.a_scales, &scales_.a_scales, stage.full(), k,
                           tile.batch * scales_.a_row_blocks, tile.first_row(tiling.m));
    copy<Scales::b_blocks>(tensors.b_scales, &scales_.b_scales, stage.full(), k,
                           tile.batch * scales_.b_row_blocks, tile.first_column(tiling.n));
  }

 private:
  template <unsigned row_blocks, class Tensor>
  static TW_DEVICE void copy(const Tensor& to, const TensorMap* map, CopySignal full, int k,
                             int first_block, int first_row) {
    TW_UNROLL
    for (unsigned i = 0; i < row_blocks; ++i) {
      const int at[3] = {0, k * int{Scales::k_blocks},
                         first_block + first_row / int{ScaleBlock::rows} + static_cast<int>(i)};
      const SharedAddress block = to.slice(whole, whole, i).address();
      if constexpr (tiling.group == 1)
        isa::cp_async_bulk_tensor_load(block, map, full, at, isa::CacheHint::EvictNormal);
      else
        isa::cp_async_bulk_tensor_load_pair(block, map, full, at, isa::CacheHint::EvictNormal);
    }
  }

  const Params& scales_;
};

}  // namespace tw
