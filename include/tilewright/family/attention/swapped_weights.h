// Sums of one product as B of the next, through shared memory: 16 bits of each.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/head_tile.h"
#include "tilewright/isa/convert.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/matrix.h"
#include "tilewright/op/wgmma.h"
#include "tilewright/pipeline/together.h"

namespace tw {

// A thread's value i of a block of sums is of its column i % 2 + 2 (i / 4).
template <unsigned n>
struct SumColumns {
  static constexpr unsigned count = n / 4;  // each thread's
  static constexpr unsigned of_value(unsigned i) { return i % 2 + 2 * (i / 4); }
  // Which of the block's columns the thread's is.
  static constexpr unsigned place(unsigned thread, unsigned column) {
    return 2 * (thread % 4) + column % 2 + column / 2 * 8;
  }
};

// Weights of `keys` keys for n rows of queries, of which sums have a row for each key: what the
// tensor core reads is (row,key), along keys. There are two tiles: warps write into one of them
// while products of others may still read the other.
template <unsigned n, unsigned keys, ElementType type>
class SharedWeights {
  static_assert(n % 8 == 0 && keys % 64 == 0 && bytes_of(type) == 2,
                "Weights are 16 bits, of blocks of 64 keys for rows by 8.");
  static constexpr unsigned blocks = keys / 64;
  using Sums = RegisterAccumulator<blocks, n>;

 public:
  static constexpr HeadTile tile = {n, keys, type};
  static constexpr unsigned count = 2;
  static constexpr unsigned rows = n;
  static constexpr int exponent = 0;  // weights are at most 1
  struct Tiles {
    alignas(1024) unsigned char bytes[tile.bytes()];
  };
  using Tensors = HeadTensors<tile, Major::K, unsigned{sizeof(Tiles)}>;

  static TW_DEVICE void init(Tiles (&tiles)[count]) {
    for (unsigned i = 0; i < count; ++i) {
      isa::describe_shared(isa::shared_address(&tiles[i]), sizeof(Tiles), "weights", i);
    }
  }

  // The threads of a group have the named barrier for themselves.
  TW_DEVICE SharedWeights(Tiles (&tiles)[count], unsigned barrier, unsigned thread)
      : tensors_(isa::shared_address(tiles)), barrier_(barrier), thread_(thread) {}

  TW_DEVICE const Tensors& tensors() const { return tensors_; }
  // The tile that was written last.
  TW_DEVICE unsigned slot() const { return slot_; }

  // Rounds the values of all threads of the group, into the other tile.
  TW_DEVICE void take(Sums& sums) {
    slot_ ^= 1;
    const auto chunks = tensors_.rows.template chunks<16>();
    const unsigned warp = thread_ / 32, lane = thread_ % 32;
    write_for_products(barrier_, 128, [&] {
      TW_UNROLL
      for (unsigned block = 0; block < blocks; ++block) {
        const float(&values)[n / 2] = sums.values(block);
        TW_UNROLL
        for (unsigned eight = 0; eight < n / 8; ++eight) {
          // Two matrices of 8 keys by 8 rows, whose lines are rows.
          isa::stmatrix_x2_transposed(
              chunks.address(8 * eight + lane % 8, 2 * warp + lane / 8 % 2, block, slot_),
              packed(values + 4 * eight), packed(values + 4 * eight + 2));
        }
      }
    });
  }

 private:
  static TW_DEVICE std::uint32_t packed(const float* pair) {
    return type == ElementType::Bf16 ? isa::cvt_bf16x2(pair[0], pair[1])
                                     : isa::cvt_f16x2(pair[0], pair[1]);
  }

  Tensors tensors_;
  unsigned barrier_;
  unsigned thread_;
  unsigned slot_ = 0;
};

}  // namespace tw
