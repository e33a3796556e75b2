// TileOp on Hopper whose products of several blocks add up in the tensor core before they join the
// sums of all others in shared memory.
#pragma once

#include <bit>
#include <cstdint>

#include "tilewright/family/attention/wgmma_rings.h"
#include "tilewright/isa/shared_memory.h"

namespace tw {

// The same as WgmmaOfRegisters of 8 bits, but sums of `blocks` blocks are in registers, where the
// tensor core keeps 13 bits of fraction, and those of all blocks before in shared memory, in
// float32: a thread's own values, which no other touches.
template <class TensorsB, unsigned k, unsigned blocks>
class WgmmaOfJoinedBlocks : public WgmmaOfRegisters<TensorsB, k, false> {
  using Base = WgmmaOfRegisters<TensorsB, k, false>;

 public:
  using typename Base::Accumulator;
  // The sums of one warpgroup: four values of every thread after four.
  struct Joined {
    alignas(16) float values[Accumulator::fragment_size / 4][128][4];
  };

  TW_DEVICE WgmmaOfJoinedBlocks(const TensorsB& b, Joined& joined, unsigned thread)
      : Base(b, thread), joined_(isa::shared_address(&joined.values[0][thread])) {}

  // A tile begins: nothing has joined.
  TW_DEVICE void begin() {
    const std::uint32_t zeros[4] = {};
    TW_UNROLL
    for (unsigned i = 0; i < Accumulator::fragment_size; i += 4) {
      isa::store_shared_16(joined_ + i / 4 * pitch, zeros);
    }
    factors_ = {1, 1};
  }
  // Multiplies the sums of all products issued so far by each row's factor, behind the product of
  // block `block` of the keys, the last of those before. Blocks come from the last to the first,
  // and they are counted from the first key: which sums join is the same for all tiles, wherever
  // they end. No branch writes the sums themselves: ptxas would serialise their products.
  TW_DEVICE void correct(Accumulator& sum, const RowPair& factors, int block) {
    if (static_cast<unsigned>(block) % blocks == 0) {
      join(sum);
      sum.start_over();
      factors_ = factors;
    } else {
      factors_ = {factors_.upper * factors.upper, factors_.lower * factors.lower};
    }
    sum.scale_rows(factors);
  }
  // After the last wait: the sums are whole.
  TW_DEVICE void finish(Accumulator& sum) const {
    float(&values)[Accumulator::fragment_size] = sum.values(0);
    TW_UNROLL
    for (unsigned i = 0; i < Accumulator::fragment_size; i += 4) {
      float joined[4];
      load(joined, i);
      TW_UNROLL
      for (unsigned j = 0; j < 4; ++j) values[i + j] += joined[j] * factors_.of(i + j);
    }
  }

 private:
  static constexpr unsigned pitch = 128 * 16;  // bytes from four values to the next
  TW_DEVICE void load(float (&values)[4], unsigned i) const {
    std::uint32_t words[4];
    isa::load_shared_16(words, joined_ + i / 4 * pitch);
    TW_UNROLL
    for (unsigned j = 0; j < 4; ++j) values[j] = std::bit_cast<float>(words[j]);
  }
  TW_DEVICE void join(Accumulator& sum) const {
    const float(&values)[Accumulator::fragment_size] = sum.values(0);
    TW_UNROLL
    for (unsigned i = 0; i < Accumulator::fragment_size; i += 4) {
      float joined[4];
      load(joined, i);
      std::uint32_t words[4];
      TW_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        words[j] = std::bit_cast<std::uint32_t>(joined[j] * factors_.of(i + j) + values[i + j]);
      }
      isa::store_shared_16(joined_ + i / 4 * pitch, words);
    }
  }

  SharedAddress joined_;  // the thread's
  // The factor by which the sums in shared memory are still to be multiplied.
  RowPair factors_ = {1, 1};
};

}  // namespace tw
