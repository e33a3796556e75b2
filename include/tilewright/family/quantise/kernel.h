// Quantising for blockwise FP8: elements and scales of a matrix, as number/block_scale.h defines
// them. A CTA takes tiles of 128 columns, one block of k; 16 neighbouring threads have a row of it,
// eight elements each.
#pragma once

#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/bind/streamed.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/family/quantise/copy.h"
#include "tilewright/io/major.h"
#include "tilewright/number/block_scale.h"
#include "tilewright/pipeline/maximum.h"

namespace tw {

// The configuration of an instance.
struct QuantiseConfig {
  unsigned scale_rows;  // that share a scale: 1 or 128; 0: a copy, which has none
  Tracing tracing = Tracing::Off;
  // A CTA takes so many rows of 128 columns at once.
  constexpr unsigned tile_rows() const { return scale_rows == 1 ? 64 : scale_rows; }
};

template <QuantiseConfig config>
class QuantiseStream : public UsualStream {
 public:
  static constexpr unsigned scale_rows = config.scale_rows;
  static constexpr unsigned threads = 256, least_ctas = 1;
  static constexpr unsigned block = 128;
  static constexpr unsigned length = 8;  // elements in a thread's piece of a row
  static constexpr unsigned row_threads = block / length;
  static constexpr unsigned rows_at_once = threads / row_threads;
  static constexpr unsigned tile_rows = config.tile_rows();
  static constexpr unsigned pieces = tile_rows / rows_at_once;

  struct Params {
    const void* source;
    void* elements;
    float* scales;
    std::int64_t source_pitch;
    std::int64_t elements_pitch;
    std::int64_t scale_row_pitch;  // from the scale of a row, or of 128, to the next one's
    std::int64_t scale_k_pitch;    // from a block of k to the next
    std::int64_t source_batch_pitch;
    std::int64_t elements_batch_pitch;
    std::int64_t scale_batch_pitch;
    int m;
    int k;
    unsigned k_blocks;
    unsigned row_tiles;  // tiles along m in each matrix
    ElementType source_type;
    ElementType element_type;
    BlockScale rule;
    bool in_vectors;  // pieces that are inside are aligned: 16 bytes of the source, 8 of the
                      // elements
  };

  struct Nothing {
    struct Storage {};
    TW_DEVICE Nothing(Storage&, unsigned) {}
  };
  using Maximum = std::conditional_t<scale_rows == 1, Nothing, CtaMaximum<threads / 32>>;
  using Storage = typename Maximum::Storage;

  TW_DEVICE QuantiseStream(const Params& params, Storage& storage, unsigned thread)
      : params_(params), thread_(thread), maximum_(storage, thread) {}

  // Tiles of the same rows come one after the other.
  TW_DEVICE void pass(unsigned tile) {
    const unsigned k_block = tile % params_.k_blocks, tile_of_batch = tile / params_.k_blocks;
    const unsigned row_tile = tile_of_batch % params_.row_tiles;
    batch_ = static_cast<int>(tile_of_batch / params_.row_tiles);
    const int row = static_cast<int>(row_tile * tile_rows + thread_ / row_threads);
    const int column = static_cast<int>(k_block * block + thread_ % row_threads * length);
    with_float_type(params_.source_type, [&](auto type) {
      Piece piece[pieces];
      load<type.value>(piece, row, column);
      if constexpr (scale_rows == 1) {
        std::uint32_t amax[pieces];
        TW_UNROLL
        for (unsigned i = 0; i < pieces; ++i) amax[i] = largest(piece[i]);
        // Each thread makes the scale of one row and tells the others.
        const unsigned mine = thread_ % pieces;
        const float scale = scale_of(maximum_of_lanes<row_threads>(amax, thread_));
        const auto inverse = std::bit_cast<std::uint32_t>(1.0f / scale);
        if (thread_ % row_threads < pieces) store_scale(scale, row_of(row, mine), k_block);
        TW_UNROLL
        for (unsigned i = 0; i < pieces; ++i) {
          const std::uint32_t told = isa::shuffle(inverse, thread_ % isa::warp_lanes() - mine + i);
          store(piece[i], std::bit_cast<float>(told), row_of(row, i), column);
        }
      } else {
        std::uint32_t amax = 0;
        TW_UNROLL
        for (unsigned i = 0; i < pieces; ++i) amax = larger(amax, largest(piece[i]));
        const float scale = scale_of(maximum_.of(amax));
        const float inverse = 1.0f / scale;
        if (thread_ == 0) store_scale(scale, static_cast<int>(row_tile), k_block);
        TW_UNROLL
        for (unsigned i = 0; i < pieces; ++i) store(piece[i], inverse, row_of(row, i), column);
      }
    });
  }

 private:
  struct Piece {
    FragmentPair pairs[length / 2];
  };

  static TW_DEVICE int row_of(int first, unsigned piece) {
    return first + static_cast<int>(piece * rows_at_once);
  }
  // Magnitudes, which are ordered as the numbers are, NaN above all.
  static TW_DEVICE std::uint32_t largest(const Piece& piece) {
    std::uint32_t result = 0;
    TW_UNROLL
    for (const FragmentPair& pair : piece.pairs) {
      result =
          larger(result, larger(float32::magnitude(pair.first), float32::magnitude(pair.second)));
    }
    return result;
  }
  TW_DEVICE float scale_of(std::uint32_t amax) const {
    const float largest = std::bit_cast<float>(amax);
    return params_.element_type == ElementType::E4m3 ? block_scale<E4m3>(largest, params_.rule)
                                                     : block_scale<E5m2>(largest, params_.rule);
  }

  // Whether a thread's pieces are vectors, in every row that there is.
  TW_DEVICE bool in_vectors(int column) const {
    return params_.in_vectors && column + static_cast<int>(length) <= params_.k;
  }

  // One branch for all pieces, so that their loads are under way together. A row that is not there
  // is read as the last one: that is of the same block, whose largest number it does not change.
  template <ElementType type>
  TW_DEVICE void load(Piece (&piece)[pieces], int first_row, int column) const {
    using Bits = ElementBits<bytes_of(type)>;
    const auto from = [&](unsigned i) {
      const int row = row_of(first_row, i);
      return static_cast<const Bits*>(params_.source) + batch_ * params_.source_batch_pitch +
             (row < params_.m ? row : params_.m - 1) * params_.source_pitch + column;
    };
    if (in_vectors(column)) {
      TW_UNROLL
      for (unsigned i = 0; i < pieces; ++i) load_vectors<type>(piece[i], from(i));
    } else {
      TW_UNROLL
      for (unsigned i = 0; i < pieces; ++i) load_elements<type>(piece[i], from(i), column);
    }
  }
  template <ElementType type, class Bits>
  static TW_DEVICE void load_vectors(Piece& piece, const Bits* from) {
    constexpr unsigned pairs = 8 / bytes_of(type);  // 16 bytes
    using Pairs = Vector<PairBits<bytes_of(type)>, static_cast<int>(pairs)>;
    static_assert(sizeof(Pairs) == 16 && alignof(Pairs) == 16);
    TW_UNROLL
    for (unsigned i = 0; i < length / 2; i += pairs) {
      const Pairs loaded =
          load_element<Space::Global>(reinterpret_cast<const Pairs*>(from + 2 * i));
      TW_UNROLL
      for (unsigned j = 0; j < pairs; ++j) piece.pairs[i + j] = values_of<type>(loaded.get(j));
    }
  }
  // Columns that are not there count as zero.
  template <ElementType type, class Bits>
  TW_DEVICE void load_elements(Piece& piece, const Bits* from, int column) const {
    const auto value = [&](int i) {
      return column + i < params_.k ? read_value<type>(from + i) : 0.0f;
    };
    TW_UNROLL
    for (int i = 0; i < static_cast<int>(length) / 2; ++i) {
      piece.pairs[i] = {value(2 * i), value(2 * i + 1)};
    }
  }

  TW_DEVICE std::uint16_t cast(FragmentPair pair) const {
    return params_.element_type == ElementType::E4m3 ? isa::cvt_e4m3x2(pair.first, pair.second)
                                                     : isa::cvt_e5m2x2(pair.first, pair.second);
  }

  TW_DEVICE void store(const Piece& piece, float inverse_scale, int row, int column) const {
    if (row >= params_.m) return;
    std::uint8_t* const to = static_cast<std::uint8_t*>(params_.elements) +
                             batch_ * params_.elements_batch_pitch + row * params_.elements_pitch +
                             column;
    using Pairs = Vector<std::uint16_t, length / 2>;
    static_assert(alignof(Pairs) == length);
    Pairs pairs;
    TW_UNROLL
    for (unsigned i = 0; i < length / 2; ++i) {
      pairs.set(static_cast<int>(i), cast(piece.pairs[i] * inverse_scale));
    }
    if (in_vectors(column)) {
      store_element<Space::Global>(reinterpret_cast<Pairs*>(to), pairs);
    } else {
      TW_UNROLL
      for (int i = 0; i < static_cast<int>(length); ++i) {
        const auto element = static_cast<std::uint8_t>(pairs.get(i / 2) >> i % 2 * 8);
        if (column + i < params_.k) store_element<Space::Global>(to + i, element);
      }
    }
  }

  TW_DEVICE void store_scale(float scale, int row, unsigned k_block) const {
    if (scale_rows == 1 && row >= params_.m) return;
    store_element<Space::Global>(params_.scales + batch_ * params_.scale_batch_pitch +
                                     row * params_.scale_row_pitch +
                                     k_block * params_.scale_k_pitch,
                                 scale);
  }

  const Params& params_;
  unsigned thread_;
  int batch_ = 0;
  Maximum maximum_;
};

template <class Page, class Named>
struct Quantise : Streamed<Page, Named> {
  using Stream = typename decltype([] {
    if constexpr (Named::config.scale_rows == 0) {
      return std::type_identity<CopyStream>();
    } else {
      return std::type_identity<QuantiseStream<Named::config>>();
    }
  }())::type;
};

}  // namespace tw
