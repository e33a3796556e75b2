// Quantising to the block-scaled formats: packed elements of a matrix, and scales in blocks as the
// tensor core takes them (number/scale_blocks.h) or in rows, as number/mx.h and number/nvfp4.h
// define them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/bind/block_pieces.h"
#include "tilewright/bind/streamed.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/number/mx.h"
#include "tilewright/number/nvfp4.h"
#include "tilewright/pipeline/maximum.h"

namespace tw {

// The configuration of an instance.
struct BlockQuantiseConfig {
  ElementType element_type;
  ScaleType scale_type;
  Tracing tracing = Tracing::Off;
};

template <BlockQuantiseConfig given>
class BlockQuantiseStream : public BlockPieces {
  using Element = tw::Element<given.element_type>;
  static constexpr unsigned bits = bits_in(given.element_type);
  static constexpr bool is_nvfp4 = given.scale_type == ScaleType::Ue4m3;
  static_assert(bits <= 8 && !is_integer(given.element_type),
                "Elements with block scales are e4m3, e5m2, e2m3, e3m2 or e2m1.");
  static_assert(!is_nvfp4 || given.element_type == ElementType::E2m1,
                "Scales of ue4m3 are for e2m1.");

 public:
  static constexpr BlockQuantiseConfig config = given;
  static constexpr unsigned least_ctas = 3;
  // Neighbours that share a scale, and blocks of four scales that a row of a tile has.
  static constexpr unsigned sharers = block_of(config.scale_type) / length;
  static constexpr unsigned scale_blocks =
      columns / block_of(config.scale_type) / ScaleBlock::scales;

  struct Params {
    const void* source;
    std::uint8_t* elements;
    std::uint8_t* scales;  // in blocks, or in rows
    std::int64_t source_pitch;
    std::int64_t line_bytes;  // from a line of elements to the next
    int m;
    int k;  // elements in whole bytes
    unsigned column_tiles;
    unsigned k_blocks;    // blocks of four scales along k
    unsigned row_scales;  // scales of a row that lies by itself; 0: they lie in blocks
    ElementType source_type;
    MxScale rule;
    float tensor_scale;
    bool in_vectors;           // lines of the source begin at multiples of 16 bytes
    bool elements_in_vectors;  // lines of the elements do so
  };
  TW_DEVICE BlockQuantiseStream(const Params& params, Storage&, unsigned thread)
      : params_(params), thread_(thread) {}

  // Tiles of the same rows come one after the other.
  TW_DEVICE void pass(unsigned tile) {
    const unsigned column_tile = tile % params_.column_tiles;
    const unsigned row_tile = tile / params_.column_tiles;
    const int column = static_cast<int>(column_tile * columns + thread_ % row_threads * length);
    const unsigned first = thread_ / row_threads;
    const bool is_whole =
        params_.in_vectors && (column_tile + 1) * columns <= static_cast<unsigned>(params_.k);
    with_float_type(params_.source_type, [&](auto type) {
      if (is_whole) {
        quantise_whole<type.value>(row_tile, first, column_tile, column);
      } else {
        TW_ROLL
        for (unsigned row = first; row < tile_rows; row += rows_at_once) {
          float values[length];
          load<type.value>(values, static_cast<int>(row_tile * tile_rows + row), column);
          quantise(values, row_tile, row, column_tile, column);
        }
      }
    });
  }

 private:
  // A tile whose columns are all there. Its pieces lie in registers as they do in memory, half as
  // many as their values need, so that the loads of several are under way together.
  template <ElementType type>
  TW_DEVICE void quantise_whole(unsigned row_tile, unsigned first, unsigned column_tile,
                                int column) const {
    using Bits = ElementBits<bytes_of(type)>;
    constexpr unsigned at_once = bytes_of(type) == 2 ? pieces : pieces / 2;
    constexpr unsigned pairs = 8 / bytes_of(type);  // 16 bytes
    using Pairs = Vector<PairBits<bytes_of(type)>, static_cast<int>(pairs)>;
    TW_UNROLL
    for (unsigned taken = 0; taken < pieces; taken += at_once) {
      Pairs loaded[at_once][length / 2 / pairs] = {};
      TW_UNROLL
      for (unsigned i = 0; i < at_once; ++i) {
        const int row = static_cast<int>(row_tile * tile_rows + first + (taken + i) * rows_at_once);
        if (row >= params_.m) continue;
        const auto* const from = reinterpret_cast<const Pairs*>(
            static_cast<const Bits*>(params_.source) + row * params_.source_pitch + column);
        TW_UNROLL
        for (unsigned j = 0; j < length / 2 / pairs; ++j) {
          loaded[i][j] = load_element<Space::Global>(from + j);
        }
      }
      TW_UNROLL
      for (unsigned i = 0; i < at_once; ++i) {
        float values[length];
        TW_UNROLL
        for (unsigned j = 0; j < length / 2; ++j) {
          const FragmentPair pair =
              values_of<type>(loaded[i][j / pairs].get(static_cast<int>(j % pairs)));
          values[2 * j] = pair.first;
          values[2 * j + 1] = pair.second;
        }
        quantise(values, row_tile, first + (taken + i) * rows_at_once, column_tile, column);
      }
    }
  }

  // Elements outside of the matrix count as zero.
  template <ElementType type>
  TW_DEVICE void load(float (&values)[length], int row, int column) const {
    using Bits = ElementBits<bytes_of(type)>;
    const bool is_there = row < params_.m;
    const Bits* const from = static_cast<const Bits*>(params_.source) +
                             (is_there ? row : 0) * params_.source_pitch + column;
    if (is_there && params_.in_vectors && column + static_cast<int>(length) <= params_.k) {
      constexpr unsigned pairs = 8 / bytes_of(type);  // 16 bytes
      using Pairs = Vector<PairBits<bytes_of(type)>, static_cast<int>(pairs)>;
      TW_UNROLL
      for (unsigned i = 0; i < length / 2; i += pairs) {
        const Pairs loaded =
            load_element<Space::Global>(reinterpret_cast<const Pairs*>(from + 2 * i));
        TW_UNROLL
        for (unsigned j = 0; j < pairs; ++j) {
          const FragmentPair pair = values_of<type>(loaded.get(static_cast<int>(j)));
          values[2 * (i + j)] = pair.first;
          values[2 * (i + j) + 1] = pair.second;
        }
      }
    } else {
      TW_UNROLL
      for (unsigned i = 0; i < length; ++i) {
        const bool has_value = is_there && column + static_cast<int>(i) < params_.k;
        values[i] = has_value ? read_value<type>(from + i) : 0.0f;
      }
    }
  }

  // `row` is the tile's. All threads call it.
  TW_DEVICE void quantise(const float (&values)[length], unsigned row_tile, unsigned row,
                          unsigned column_tile, int column) const {
    std::uint32_t amax[1] = {0};
    TW_UNROLL
    for (const float value : values) amax[0] = larger(amax[0], float32::magnitude(value));
    const float largest = std::bit_cast<float>(maximum_of_lanes<sharers>(amax, thread_));
    std::uint32_t scale;
    float inverse;
    if constexpr (is_nvfp4) {
      const Ue4m3 made = nvfp4_block_scale(largest, params_.tensor_scale);
      scale = made.bits;
      inverse = 1.0f / params_.tensor_scale / static_cast<float>(made);
    } else {
      const Ue8m0 made = mx_block_scale<Element>(largest, params_.rule);
      scale = made.bits;
      inverse = static_cast<float>(made.inverse());
    }
    const int in_matrix = static_cast<int>(row_tile * tile_rows + row);
    const bool is_there = in_matrix < params_.m;
    if (is_there) store(values, inverse, in_matrix, column);
    const bool has_scale = is_there && column < params_.k;
    if (params_.row_scales == 0)
      store_in_block(has_scale ? scale : 0, row_tile, row, column_tile);
    else if (has_scale && thread_ % sharers == 0)
      store_element<Space::Global>(params_.scales + std::int64_t{in_matrix} * params_.row_scales +
                                       column / static_cast<int>(block_of(config.scale_type)),
                                   static_cast<std::uint8_t>(scale));
  }

  static TW_DEVICE std::uint16_t cast(float lower, float upper) {
    if constexpr (given.element_type == ElementType::E4m3) {
      return isa::cvt_e4m3x2(lower, upper);
    } else {
      return isa::cvt_e5m2x2(lower, upper);
    }
  }

  TW_DEVICE void store(const float (&values)[length], float inverse, int row, int column) const {
    Packed<bits> packed = {};
    if constexpr (bits == 8) {  // by an instruction for two, where the target has one
      TW_UNROLL
      for (unsigned i = 0; i < length; i += 2) {
        packed.words[i / 4] |= std::uint32_t{cast(values[i] * inverse, values[i + 1] * inverse)}
                               << 8 * (i % 4);
      }
    } else {
      TW_UNROLL
      for (unsigned i = 0; i < length; ++i) {
        const auto code =
            std::uint32_t{Element::from_float(values[i] * inverse, Overflow::saturate).bits};
        const unsigned bit = i * bits, shift = bit % 32;
        packed.words[bit / 32] |= code << shift;
        if (shift + bits > 32) packed.words[bit / 32 + 1] |= code >> (32 - shift);
      }
    }
    std::uint8_t* const to =
        params_.elements + row * params_.line_bytes + std::int64_t{column} * int{bits} / 8;
    const int left = params_.k - column;
    if (params_.elements_in_vectors && left >= int{length}) {
      store_element<Space::Global>(reinterpret_cast<Packed<bits>*>(to), packed);
      return;
    }
    TW_UNROLL
    for (unsigned i = 0; i < Packed<bits>::bytes; ++i) {
      const auto byte = static_cast<std::uint8_t>(packed.words[i / 4] >> 8 * (i % 4));
      if (static_cast<int>(8 * i / bits) < left) store_element<Space::Global>(to + i, byte);
    }
  }

  // Four scales of a row are a word of their block: one thread stores it for all that have some.
  TW_DEVICE void store_in_block(std::uint32_t scale, unsigned row_tile, unsigned row,
                                unsigned column_tile) const {
    constexpr unsigned word_threads = ScaleBlock::scales * sharers;
    const unsigned in_word = thread_ % word_threads;
    std::uint32_t word = scale << 8 * (in_word / sharers);
    TW_UNROLL
    for (unsigned step = sharers; step < word_threads; step *= 2) {
      word |= isa::shuffle(word, (thread_ ^ step) % isa::warp_lanes());
    }
    const unsigned block = column_tile * scale_blocks + thread_ % row_threads / word_threads;
    if (in_word != 0 || block >= params_.k_blocks) return;
    const std::int64_t at =
        (std::int64_t{row_tile} * params_.k_blocks + block) * ScaleBlock::bytes + row % 32 * 16 +
        row / 32 * 4;
    store_element<Space::Global>(reinterpret_cast<std::uint32_t*>(params_.scales + at), word);
  }

  const Params& params_;
  unsigned thread_;
};

template <class Page, class Named>
struct BlockQuantise : Streamed<Page, Named> {
  using Stream = BlockQuantiseStream<Named::config>;
};

}  // namespace tw
