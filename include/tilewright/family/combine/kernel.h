// Rows that experts made, added up for each token. A CTA takes 1,024 columns of a token at a time,
// a thread eight of them, of up to eight rows at once.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/bind/streamed.h"
#include "tilewright/epilogue/element.h"

namespace tw {

// The configuration of an instance.
struct CombineConfig {
  bool dependent_launch = false;
  Tracing tracing = Tracing::Off;
};

class CombineStream : public UsualStream {
 public:
  static constexpr unsigned threads = 128, least_ctas = 4;
  static constexpr unsigned length = 8;  // elements of a thread
  static constexpr unsigned tile_columns = threads * length;
  static constexpr unsigned loads = 8;  // rows that a thread loads together

  // 16-bit elements; lines begin at multiples of 16 bytes.
  struct Matrix {
    const void* data;
    std::int64_t pitch;
  };
  struct Params {
    Matrix source, addend, output;  // the addend's data may be null
    const float* weights;           // null: all are 1
    const std::int32_t* places;
    unsigned columns, column_tiles, k;
    unsigned rows;  // the source has so many
    ElementType type;
  };
  struct Storage {};

  TW_DEVICE CombineStream(const Params& params, Storage&, unsigned thread)
      : params_(params), thread_(thread) {}

  TW_DEVICE void pass(unsigned tile) {
    const unsigned token = tile / params_.column_tiles;
    const unsigned column = tile % params_.column_tiles * tile_columns + thread_ * length;
    if (column >= params_.columns) return;
    if (params_.type == ElementType::Bf16) {
      combine<ElementType::Bf16>(token, column);
    } else {
      combine<ElementType::Fp16>(token, column);
    }
  }

 private:
  using Piece = Vector<std::uint32_t, length / 2>;  // pairs of elements

  static TW_DEVICE Piece* at(const Matrix& matrix, unsigned row, unsigned column) {
    return static_cast<Piece*>(const_cast<void*>(matrix.data)) +
           (row * matrix.pitch + column) / std::int64_t{length};
  }

  template <ElementType type>
  TW_DEVICE void combine(unsigned token, unsigned column) const {
    FragmentPair sums[length / 2] = {};
    for (unsigned first = 0; first < params_.k; first += loads) {
      // All loads are under way together.
      Piece pieces[loads];
      float weights[loads];
      bool is_there[loads];
      TW_UNROLL
      for (unsigned i = 0; i < loads; ++i) {
        is_there[i] = false;
        if (first + i >= params_.k) continue;
        const unsigned of_token = token * params_.k + first + i;
        const auto row =
            static_cast<unsigned>(load_element<Space::Global>(params_.places + of_token));
        weights[i] = params_.weights == nullptr
                         ? 1.0f
                         : load_element<Space::Global>(params_.weights + of_token);
        is_there[i] = row < params_.rows;
        if (is_there[i]) pieces[i] = load_element<Space::Global>(at(params_.source, row, column));
      }
      TW_UNROLL
      for (unsigned i = 0; i < loads; ++i) {
        if (!is_there[i]) continue;
        TW_UNROLL
        for (int j = 0; j < static_cast<int>(length / 2); ++j) {
          const FragmentPair pair = values_of<type>(pieces[i].get(j));
          sums[j] = {std::fma(weights[i], pair.first, sums[j].first),
                     std::fma(weights[i], pair.second, sums[j].second)};
        }
      }
    }
    if (params_.addend.data != nullptr) {
      const Piece added = load_element<Space::Global>(at(params_.addend, token, column));
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        sums[j] = sums[j] + values_of<type>(added.get(j));
      }
    }
    Piece made;
    TW_UNROLL
    for (int j = 0; j < static_cast<int>(length / 2); ++j) made.set(j, pack<type>(sums[j]));
    store_element<Space::Global>(at(params_.output, token, column), made);
  }

  const Params& params_;
  unsigned thread_;
};

template <class Page, class Named>
struct Combine : Streamed<Page, Named> {
  using Stream = CombineStream;
  static constexpr bool dependent_launch = Named::config.dependent_launch;
};

}  // namespace tw
