// TileOp on Hopper: one warpgroup multiplies its rows of A by all of B, asynchronously.
#pragma once

#include "tilewright/accumulator/registers.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/sreg.h"
#include "tilewright/isa/ptx/warp.h"
#include "tilewright/isa/ptx/wgmma.h"

namespace tw {

// The descriptor of a K-major tile whose rows are 128 bytes and swizzled over 128 bytes: groups of
// eight rows follow each other every 1024 bytes. Units of 16 bytes; the low half is the address.
inline constexpr std::uint64_t swizzled_128_descriptor =
    std::uint64_t{1} << 62 | std::uint64_t{1024 / 16} << 32 | std::uint64_t{1} << 16;

// `tile_k` bf16 of K per stage; stages lie `stage_bytes` apart.
template <unsigned rows, unsigned n, unsigned tile_k, unsigned stage_bytes>
class WgmmaOp {
  static_assert(rows % 64 == 0 && rows > 0, "A warpgroup multiplies blocks of 64 rows.");
  static_assert(n % 8 == 0 && n >= 8 && n <= 256, "wgmma takes n from 8 to 256 in steps of 8.");
  static_assert(tile_k == 64, "A row of the tile is one swizzle span: 64 bf16, 128 bytes.");
  static constexpr unsigned blocks = rows / 64;
  static constexpr unsigned block_bytes = 64 * tile_k * 2;
  static constexpr unsigned step_k = 16;

 public:
  using Accumulator = RegisterAccumulator<blocks, n>;
  // The product of the newest stage is still reading it when multiply() returns.
  static constexpr unsigned stages_held = 1;

  // Addresses of the first stage's A rows of this group, and of its B tile.
  TW_DEVICE WgmmaOp(SharedAddress a, SharedAddress b)
      : a_(isa::shuffle(a >> 4, 0)), b_(isa::shuffle(b >> 4, 0)) {}

  // Issues the products of one stage and waits for those of the stage before.
  template <class Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    const std::uint64_t a = swizzled_128_descriptor + a_ + stage.slot() * (stage_bytes / 16);
    const std::uint64_t b = swizzled_128_descriptor + b_ + stage.slot() * (stage_bytes / 16);
    isa::wgmma_fence();
    TW_UNROLL
    for (unsigned k = 0; k < tile_k / step_k; ++k) {
      TW_UNROLL
      for (unsigned block = 0; block < blocks; ++block) {
        isa::wgmma_bf16_shared<n>(sum.fragment(block),
                                  a + (block * block_bytes + k * step_k * 2) / 16,
                                  b + k * step_k * 2 / 16, k > 0 || sum.started());
      }
    }
    isa::wgmma_commit_group();
    sum.start();
    isa::wgmma_wait_group<stages_held>();
  }

  // After the last stage: the sums are in the registers.
  TW_DEVICE void finish(Accumulator& sum) {
    isa::wgmma_wait_group<0>();
    if (!sum.started()) sum.clear();
  }

 private:
  std::uint32_t a_;  // units of 16 bytes
  std::uint32_t b_;
};

}  // namespace tw
