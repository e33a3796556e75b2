// The one loop over accumulator fragments: node, conversion to bf16, staging, store. Chunks of 64
// columns go through the warpgroup's staging buffers, so that the next chunk (and the next tile)
// goes on while TMA stores the last.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/epilogue/runtime.h"
#include "tilewright/isa/ptx/matrix.h"
#include "tilewright/isa/ptx/sreg.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/layout/algebra.h"
#include "tilewright/layout/tile_tensor.h"
#include "tilewright/pipeline/staging.h"

namespace tw {

template <class Node, class Trace>
class FragmentLoop {
  static constexpr unsigned chunk_columns = 64;  // one swizzle span of bf16
  static constexpr unsigned block_rows = 64;
  using StagedTile = TileTensor<Bf16, Space::Shared, "Sw<3,3,3> o (64,64):(64,1)"_layout>;

 public:
  using Output = Staging<block_rows * chunk_columns * 2, 2, Trace>;
  struct Params {
    TensorMap map;  // of d: (n, m), inner dimension first; box of 64 by 64
    Bf16* d;
    std::int64_t pitch_bytes;
    int m;
    int n;
    typename Node::Params node;
  };

  TW_DEVICE FragmentLoop(const Params& params, typename Output::Buffers& buffers, unsigned barrier,
                         unsigned thread_in_group, Trace trace)
      : params_(params),
        output_(buffers, barrier, thread_in_group, trace),
        thread_(thread_in_group) {}

  // `sum` holds blocks of 64 rows by n columns that begin at (row, column) of the output.
  template <unsigned blocks, unsigned n, template <unsigned, unsigned> class Accumulator>
  TW_DEVICE void store(const Accumulator<blocks, n>& sum, int row, int column) {
    static_assert(n % chunk_columns == 0, "The tile's columns must be a multiple of 64.");
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned chunk = 0; chunk < n / chunk_columns; ++chunk) {
        store_chunk(sum, block, chunk, row + static_cast<int>(block * block_rows),
                    column + static_cast<int>(chunk * chunk_columns));
      }
    }
  }

  TW_DEVICE void drain() { output_.drain(); }

 private:
  template <class Accumulator>
  TW_DEVICE void store_chunk(const Accumulator& sum, unsigned block, unsigned chunk, int row,
                             int column) {
    auto buffer = output_.acquire();
    const StagedTile staged(reinterpret_cast<Bf16*>(buffer.bytes()));
    Node::choose(params_.node, params_.m, params_.n, [&](const auto& node) {
      write_chunk(node, staged, sum, block, chunk, row, column);
    });
    const bool stores = buffer.publish();
    // TMA writes whole groups of 16 bytes: it would run over an edge inside one.
    if (params_.n % 8 != 0 && column + static_cast<int>(chunk_columns) > params_.n) {
      copy_edge(staged, row, column);
    } else if (stores) {
      const int at[2] = {column, row};
      isa::cp_async_bulk_tensor_store(&params_.map, buffer.address(), at);
    }
  }

  template <class ChosenNode, class Accumulator>
  TW_DEVICE void write_chunk(const ChosenNode& node, StagedTile staged, const Accumulator& sum,
                             unsigned block, unsigned chunk, int row, int column) {
    // A warp writes 16 rows, 16 columns at a time: lane l addresses eight columns of row l % 16.
    const unsigned lane = thread_ % 32;
    const unsigned own_row = 16 * (thread_ / 32) + lane % 16;
    const SharedAddress own = isa::shared_address(staged.address(own_row, lane / 16 * 8));
    TW_UNROLL
    for (unsigned i = 0; i < chunk_columns / 16; ++i) {
      std::uint32_t packed[4];
      TW_UNROLL
      for (unsigned pair = 0; pair < 4; ++pair) {
        const unsigned at = 8 * i + 2 * pair;  // this thread's values of the chunk
        const unsigned value = chunk * (chunk_columns / 2) + at;
        const FragmentPair result =
            node.apply({sum.value(block, value), sum.value(block, value + 1)},
                       row + static_cast<int>(Accumulator::row_of(thread_, at)),
                       column + static_cast<int>(Accumulator::column_of(thread_, at)));
        packed[pair] = isa::cvt_bf16x2(result.first, result.second);
      }
      // 16 columns further is a change of two address bits, which the swizzle only exchanges.
      isa::stmatrix_x4(own ^ (i * 16 * sizeof(Bf16)), packed[0], packed[1], packed[2], packed[3]);
    }
  }

  // Element by element, by all threads of the group.
  TW_DEVICE void copy_edge(StagedTile staged, int row, int column) {
    const TileTensor<Bf16, Space::Global, "(_,_):(1@1,1)"_layout> d(  // (m,n)
        params_.d, {unsigned(params_.m), unsigned(params_.n)}, {params_.pitch_bytes});
    for (unsigned i = thread_; i < block_rows * chunk_columns; i += Output::threads) {
      const unsigned chunk_row = i / chunk_columns;
      const unsigned chunk_column = i % chunk_columns;
      const unsigned to_row = row + chunk_row;
      const unsigned to_column = column + chunk_column;
      if (to_row < unsigned(params_.m) && to_column < unsigned(params_.n)) {
        d.store(staged.load(chunk_row, chunk_column), to_row, to_column);
      }
    }
  }

  const Params& params_;
  Output output_;
  unsigned thread_;
};

}  // namespace tw
