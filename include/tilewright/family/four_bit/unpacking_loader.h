// TileIO by threads: packed weights become numbers of 16 bits on their way to shared memory, where
// any TileOp reads them as B; activations are A.
#pragma once

#include "tilewright/family/four_bit/fragments.h"
#include "tilewright/io/vector_copy.h"
#include "tilewright/isa/ptx/shared_memory.h"

namespace tw {

// A thread of the load role reads what a thread of a warpgroup would: 16 bytes of codes, which are
// pairs of four products of 16 of k, and the scales of its two rows.
template <Tiling tiling, PackedWeights packed, unsigned warps, Completion how>
class UnpackingLoader : public ThreadLoader<tiling, VectorCopy, warps, how> {
  using Base = ThreadLoader<tiling, VectorCopy, warps, how>;
  static_assert(Base::threads == 128, "Codes of a block are in the order of 128 threads.");
  static_assert(tiling.n % PackedWeights::rows == 0 && tiling.k() % PackedWeights::k == 0,
                "A stage has whole blocks of weights.");
  static_assert(tiling.swap_ab == 0 && !packed.is_for_bytes(), "Weights are B, of two bytes each.");

 public:
  struct Params : Base::Params {
    const unsigned char* weights;
    std::int64_t batch_bytes;  // from one matrix of the batch to the next
    int row_blocks;            // each 64 features
    int k_blocks;              // each 128 of k
  };
  TW_DEVICE UnpackingLoader(const Params& params, unsigned thread)
      : Base(params, thread), thread_(thread) {}

  // k counts stages. Loads beyond the last block read the last one: rows there are not stored, and
  // activations along k are zero.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    this->load_a(stage, tile, k);
    const auto& params = static_cast<const Params&>(this->params_);
    constexpr unsigned along_k = tiling.k() / PackedWeights::k;
    const int first_row = tile.first_column(tiling.n) / static_cast<int>(PackedWeights::rows);
    TW_UNROLL
    for (unsigned i = 0; i < tiling.n / PackedWeights::rows * along_k; ++i) {
      const int row = std::min(first_row + static_cast<int>(i / along_k), params.row_blocks - 1);
      const int at_k = std::min(k * static_cast<int>(along_k) + static_cast<int>(i % along_k),
                                params.k_blocks - 1);
      unpack(stage.tensors().b,
             params.weights + tile.batch * params.batch_bytes +
                 (std::int64_t{row} * params.k_blocks + at_k) * packed.block_bytes(),
             i / along_k * PackedWeights::rows, i % along_k * 2);
    }
  }

 private:
  // A block, into the tensor's rows from `row` and spans from `span` on.
  template <class Tensor>
  TW_DEVICE void unpack(const Tensor& to, const unsigned char* block, unsigned row,
                        unsigned span) const {
    using Words = Vector<std::uint32_t, 4>;
    const unsigned own_row = thread_ / 32 * 16 + thread_ % 32 / 4;
    const auto* const codes = reinterpret_cast<const Words*>(block) + thread_;
    const Words loaded[2] = {
        load_element<Space::Global>(codes),
        load_element<Space::Global>(codes + PackedWeights::span_bytes / sizeof(Words))};
    ScaleRecord<packed> record;
    TW_UNROLL
    for (unsigned i = 0; i < ScaleRecord<packed>::words; ++i) {
      record.word[i] = load_element<Space::Global>(
          reinterpret_cast<const std::uint32_t*>(block + packed.scale_at(own_row, 0)) + i);
    }
    TW_UNROLL
    for (unsigned step = 0; step < 8; ++step) {
      const std::uint32_t word = loaded[step / 4].get(static_cast<int>(step % 4));
      std::uint32_t pairs[4];
      FourBitFragments<packed>::convert(pairs, &word, record, step);
      TW_UNROLL
      for (unsigned pair = 0; pair < 4; ++pair) {
        const unsigned at = step % 4 * 16 + pair / 2 * 8 + thread_ % 4 * 2;
        isa::store_shared_4(to.address(row + own_row + pair % 2 * 8, at, span + step / 4),
                            pairs[pair]);
      }
    }
  }

  unsigned thread_;
};

}  // namespace tw
