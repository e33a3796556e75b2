// The numbers that block-scaled elements stand for, each times its scale. One kernel takes every
// format: what it streams is worth more than what it decodes.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/bind/block_pieces.h"
#include "tilewright/bind/streamed.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/number/code_format.h"

namespace tw {

// Unrolled; it ends where `use` says false, as that says of every number behind. clang unrolls no
// loop that ends early: there the others are asked, too.
template <unsigned count, class Use>
TW_DEVICE void for_each_while(const Use& use) {
  TW_UNROLL
  for (unsigned i = 0; i < count; ++i) {
    [[maybe_unused]] const bool goes_on = use(i);
#if !defined(__HIP__)
    if (!goes_on) break;
#endif
  }
}

// The configuration of an instance: there is nothing else to choose.
struct BlockDequantiseConfig {
  Tracing tracing = Tracing::Off;
};

class BlockDequantiseStream : public BlockPieces {
 public:
  struct Params {
    const std::uint8_t* elements;
    const std::uint8_t* scales;
    void* values;
    std::int64_t line_bytes;  // from a line of elements to the next
    std::int64_t values_pitch;
    int m;
    int k;
    unsigned column_tiles;
    ScaleExtent extent;
    CodeFormat format;
    ScaleType scale_type;
    ElementType values_type;
    float tensor_scale;
    bool scales_in_rows;       // else in blocks
    bool elements_in_vectors;  // lines begin at multiples of 16 bytes
    bool values_in_vectors;
  };

  TW_DEVICE BlockDequantiseStream(const Params& params, Storage&, unsigned thread)
      : params_(params), thread_(thread) {}

  // Tiles of the same rows come one after the other.
  TW_DEVICE void pass(unsigned tile) {
    const int column =
        static_cast<int>(tile % params_.column_tiles * columns + thread_ % row_threads * length);
    if (column >= params_.k) return;
    const unsigned first_row = tile / params_.column_tiles * tile_rows + thread_ / row_threads;
    with_float_type(params_.values_type, [&](auto type) {
      TW_UNROLL
      for (unsigned i = 0; i < pieces; ++i) {
        const int row = static_cast<int>(first_row + i * rows_at_once);
        if (row >= params_.m) return;
        float values[length];
        if (params_.format.bits == 8)
          read<8>(values, row, column);
        else if (params_.format.bits == 6)
          read<6>(values, row, column);
        else
          read<4>(values, row, column);
        write<type.value>(values, row, column);
      }
    });
  }

 private:
  TW_DEVICE float scale_of(int row, int column) const {
    const int block = column / static_cast<int>(block_of(params_.scale_type));
    const std::int64_t at = params_.scales_in_rows
                                ? std::int64_t{row} * params_.extent.scales + block
                                : params_.extent.place(row, block);
    const std::uint8_t code = load_element<Space::Global>(params_.scales + at);
    return params_.tensor_scale * scale_value(params_.scale_type, code);
  }

  template <unsigned bits>
  TW_DEVICE void read(float (&values)[length], int row, int column) const {
    const float scale = scale_of(row, column);
    Packed<bits> packed = {};
    const int left = params_.k - column;
    const std::uint8_t* const from =
        params_.elements + row * params_.line_bytes + std::int64_t{column} * int{bits} / 8;
    if (params_.elements_in_vectors && left >= int{length}) {
      packed = load_element<Space::Global>(reinterpret_cast<const Packed<bits>*>(from));
    } else {
      // The last byte may hold a part of an element that is not there.
      const unsigned there =
          left < int{length} ? static_cast<unsigned>(left) * bits : length * bits;
      for_each_while<Packed<bits>::bytes>([&](unsigned i) TW_LOOP_BODY {
        if (8 * i >= there) return false;
        packed.words[i / 4] |= std::uint32_t{load_element<Space::Global>(from + i)} << 8 * (i % 4);
        return true;
      });
    }
    TW_UNROLL
    for (unsigned i = 0; i < length; ++i) {
      const unsigned word = i * bits / 32, shift = i * bits % 32;
      std::uint32_t code = packed.words[word] >> shift;
      if (shift + bits > 32) code |= packed.words[word + 1] << (32 - shift);
      const float value = scale * params_.format.value(code & ((1u << bits) - 1));
      // One NaN on every machine.
      values[i] = float32::magnitude(value) > float32::infinity
                      ? std::bit_cast<float>(float32::canonical_nan)
                      : value;
    }
  }

  template <ElementType type>
  TW_DEVICE void write(const float (&values)[length], int row, int column) const {
    using Bits = ElementBits<bytes_of(type)>;
    Bits* const to = static_cast<Bits*>(params_.values) + row * params_.values_pitch + column;
    constexpr unsigned pairs = 8 / bytes_of(type);  // 16 bytes
    using Pairs = Vector<PairBits<bytes_of(type)>, static_cast<int>(pairs)>;
    const int left = params_.k - column;
    TW_UNROLL
    for (unsigned i = 0; i < length / 2; i += pairs) {
      Pairs packed;
      TW_UNROLL
      for (unsigned j = 0; j < pairs; ++j) {
        packed.set(static_cast<int>(j),
                   pack<type>(FragmentPair{values[2 * (i + j)], values[2 * (i + j) + 1]}));
      }
      if (params_.values_in_vectors && left >= int{length}) {
        store_element<Space::Global>(reinterpret_cast<Pairs*>(to + 2 * i), packed);
        continue;
      }
      TW_UNROLL
      for (unsigned j = 0; j < pairs; ++j) {
        const auto pair = packed.get(static_cast<int>(j));
        const int at = static_cast<int>(2 * (i + j));
        if (at < left) store_element<Space::Global>(to + at, first_of<bytes_of(type)>(pair));
        if (at + 1 < left)
          store_element<Space::Global>(to + at + 1, second_of<bytes_of(type)>(pair));
      }
    }
  }

  const Params& params_;
  unsigned thread_;
};

template <class Page, class Named>
struct BlockDequantise : Streamed<Page, Named> {
  using Stream = BlockDequantiseStream;
};

}  // namespace tw
