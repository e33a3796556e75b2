// Four-bit weights of a checkpoint, packed for products with them. A CTA makes one block of 64
// outputs by 128 inputs at a time: a thread 16 bytes of codes, and one or two scales.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/bind/streamed.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/family/pack_weights/scale_bytes.h"

namespace tw {

// The configuration of an instance: there is nothing else to choose.
struct PackWeightsConfig {
  Tracing tracing = Tracing::Off;
};

class PackWeightsStream : public UsualStream {
 public:
  static constexpr unsigned threads = 256, least_ctas = 2;
  static_assert(16 * threads == PackedWeights::code_bytes);

  // An array of a checkpoint. Strides count elements.
  struct Matrix {
    const void* data;
    std::int64_t row_stride, column_stride, batch_stride;

    template <class Element>
    TW_DEVICE Element load(int batch, int row, int column) const {
      const std::int64_t place = batch * batch_stride + row * row_stride + column * column_stride;
      return load_element<Space::Global>(static_cast<const Element*>(data) + place);
    }
  };
  struct Params {
    Matrix codes, scales, zeros;
    std::uint8_t* packed;
    PackedWeights layout;
    unsigned k_blocks, matrix_blocks;
    int n, k;
    int group, groups;  // the checkpoint's
    int exponent;
    unsigned zero_offset;
    bool is_awq;
  };
  struct Storage {};

  TW_DEVICE PackWeightsStream(const Params& params, Storage&, unsigned thread)
      : params_(params), thread_(thread) {}

  TW_DEVICE void pass(unsigned tile) {
    const unsigned block = tile % params_.matrix_blocks;
    batch_ = static_cast<int>(tile / params_.matrix_blocks);
    first_row_ = static_cast<int>(block / params_.k_blocks * PackedWeights::rows);
    first_k_ = static_cast<int>(block % params_.k_blocks * PackedWeights::k);
    std::uint8_t* const to = params_.packed + std::int64_t{tile} * params_.layout.block_bytes();
    write_codes(to);
    const unsigned scales = PackedWeights::rows * params_.layout.groups();
    for (unsigned i = thread_; i < scales; i += threads) {
      write_scale(to, i % PackedWeights::rows, i / PackedWeights::rows);
    }
  }

 private:
  using Words = Vector<std::uint32_t, 4>;

  // The codes of k and the next, in the lowest bits; k is even. Beyond n and k they are 0.
  TW_DEVICE unsigned two_codes(int row, int k) const {
    if (row >= params_.n) return 0;
    unsigned codes = 0;
    if (!params_.is_awq) {
      if (k < params_.k) codes = params_.codes.load<std::uint32_t>(batch_, row, k / 8) >> k % 8 * 4;
    } else {
      // Even rows come first in a word.
      const unsigned nibble = static_cast<unsigned>(row % 8 / 2 + row % 2 * 4);
      TW_UNROLL
      for (int i = 0; i < 2; ++i) {
        if (k + i >= params_.k) continue;
        const auto word = params_.codes.load<std::uint32_t>(batch_, row / 8, k + i);
        codes |= (word >> 4 * nibble & 15) << 4 * i;
      }
    }
    return codes & (k + 1 < params_.k ? 255 : 15);
  }

  TW_DEVICE void write_codes(std::uint8_t* to) const {
    const PackedWeights& layout = params_.layout;
    const bool for_bytes = layout.is_for_bytes();
    Words words;
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      const unsigned byte = 16 * thread_ + static_cast<unsigned>(4 * i);
      std::uint32_t word = 0;
      TW_UNROLL
      for (unsigned side = 0; side < 2; ++side) {  // two rows, or for e4m3 two runs of four of k
        const auto first = layout.coordinate_of(byte, side, 0);
        const int row = first_row_ + static_cast<int>(first.row);
        const int k = first_k_ + static_cast<int>(first.k);
        unsigned codes[2] = {two_codes(row, k), two_codes(row, k + (for_bytes ? 2 : 8))};
        if (layout.is_e2m1()) {  // all four are of one group
          const PackedScale scale = scale_of(row, k / params_.group);
          TW_UNROLL
          for (unsigned& two : codes) {
            two = scale.clears ? scale.code * 0x11u : two ^ (scale.flips ? 0x88u : 0);
          }
        }
        TW_UNROLL
        for (unsigned i = 0; i < 4; ++i) {  // places are constants in either case
          const unsigned code = codes[i / 2] >> i % 2 * 4 & 15;
          word |= for_bytes ? layout.placed(code, side, i)
                            : layout.placed(code, side + i / 2 * 2, i % 2);
        }
      }
      words.set(i, word);
    }
    store_element<Space::Global>(reinterpret_cast<Words*>(to) + thread_, words);
  }

  TW_DEVICE bool is_there(int row, int group) const {
    return row < params_.n && group < params_.groups;
  }

  // A scale of e2m1.
  TW_DEVICE PackedScale scale_of(int row, int group) const {
    const PackedWeights& layout = params_.layout;
    if (!is_there(row, group)) return no_scale(layout.activation);
    const auto code = params_.scales.load<std::uint8_t>(batch_, row, group);
    if (layout.format == WeightFormat::Nvfp4) return packed_e4m3(code, layout.activation);
    const PackedScale scale = packed_ue8m0(code, layout.activation, params_.exponent);
    if (scale.fits) return scale;
    unsigned found = 0;
    for (int k = group * params_.group; k < (group + 1) * params_.group; k += 2) {
      found |= two_codes(row, k) & 0x77;
    }
    return found == 0 ? no_scale(layout.activation) : nan_scale(layout.activation);
  }

  TW_DEVICE void write_scale(std::uint8_t* to, unsigned block_row, unsigned block_group) const {
    const PackedWeights& layout = params_.layout;
    const int row = first_row_ + static_cast<int>(block_row);
    const int k = first_k_ + static_cast<int>(block_group * layout.group);
    const int group = k < params_.k ? k / params_.group : params_.groups;
    std::uint8_t* const at = to + layout.scale_at(block_row, block_group);
    if (layout.is_e2m1()) {
      store_element<Space::Global>(at, scale_of(row, group).byte);
      return;
    }
    const bool there = is_there(row, group);
    const std::uint16_t scale = there ? params_.scales.load<std::uint16_t>(batch_, row, group) : 0;
    store_element<Space::Global>(reinterpret_cast<std::uint16_t*>(at), scale);
    if (layout.format == WeightFormat::Int4) return;
    unsigned zero = 0;
    if (there) {
      const auto in_word = static_cast<unsigned>(row % 8);
      const unsigned nibble = params_.is_awq ? in_word / 2 + in_word % 2 * 4 : in_word;
      zero = (params_.zeros.load<std::uint32_t>(batch_, row / 8, group) >> 4 * nibble & 15) +
             params_.zero_offset;
    }
    // The bias has its one bit in the exponent: what is added are units of the last place.
    const unsigned bias = layout.activation == ElementType::Bf16 ? 0x4300 : 0x6400;
    store_element<Space::Global>(reinterpret_cast<std::uint16_t*>(at) + 1,
                                 static_cast<std::uint16_t>(bias + zero));
  }

  const Params& params_;
  unsigned thread_;
  int batch_ = 0, first_row_ = 0, first_k_ = 0;
};

template <class Page, class Named>
struct PackWeights : Streamed<Page, Named> {
  using Stream = PackWeightsStream;
};

}  // namespace tw
