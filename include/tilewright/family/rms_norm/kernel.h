// Rows divided by the root of the mean of their squares. A CTA takes one row at a time, which stays
// in registers: thread i has the pieces of 16 bytes i, i + 256 and so on.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/bind/streamed.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/pipeline/maximum.h"

namespace tw {

// The configuration of an instance.
struct RmsNormConfig {
  unsigned pieces = 8;      // a thread's, of a row: few leave room for more CTAs on an SM
  unsigned least_ctas = 0;  // on an SM; 0: 5 of up to two pieces, else 2
  bool dependent_launch = false;
  Tracing tracing = Tracing::Off;
};

template <RmsNormConfig given>
class RmsNormStream : public UsualStream {
 public:
  static constexpr RmsNormConfig config = given;
  static constexpr unsigned pieces = config.pieces;
  static constexpr unsigned threads = 256;
  static constexpr unsigned least_ctas = config.least_ctas != 0 ? config.least_ctas
                                         : pieces <= 2          ? 5
                                                                : 2;
  static constexpr unsigned length = 8;  // elements in a piece
  static constexpr unsigned most_columns = threads * pieces * length;

  // A matrix of 16-bit elements, or null; lines begin at multiples of 16 bytes.
  struct Matrix {
    const void* data;
    std::int64_t pitch;
  };
  struct Params {
    Matrix source, residual, output, sum;
    const void* weight;
    unsigned k;
    float epsilon;
    ElementType type;
  };
  using Sum = CtaSum<threads / 32>;
  using Storage = typename Sum::Storage;

  TW_DEVICE RmsNormStream(const Params& params, Storage& storage, unsigned thread)
      : params_(params), thread_(thread), sum_(storage, thread) {}

  TW_DEVICE void pass(unsigned row) {
    if (params_.type == ElementType::Bf16) {
      normalise<ElementType::Bf16>(row);
    } else {
      normalise<ElementType::Fp16>(row);
    }
  }

 private:
  using Piece = Vector<std::uint32_t, length / 2>;  // pairs of elements

  static TW_DEVICE Piece* line(const Matrix& matrix, unsigned row) {
    return static_cast<Piece*>(const_cast<void*>(matrix.data)) +
           row * (matrix.pitch / std::int64_t{length});
  }
  // Calls `body` with each piece of the row that the thread has: first the thread's, then the row's
  // number.
  template <class Body>
  TW_DEVICE void each_piece(const Body& body) const {
    TW_UNROLL
    for (unsigned i = 0; i < pieces; ++i) {
      const unsigned at = i * threads + thread_;
      if (at * length < params_.k) body(i, at);
    }
  }

  template <ElementType type>
  TW_DEVICE void normalise(unsigned row) {
    // All loads are under way together. Pieces that the row has not are zero.
    Piece piece[pieces] = {}, weight[pieces];
    const Piece *const from = line(params_.source, row), *const weights = static_cast<const Piece*>(
                                                             params_.weight);
    each_piece([&](unsigned i, unsigned at) {
      piece[i] = load_element<Space::Global>(from + at);
      weight[i] = load_element<Space::Global>(weights + at);
    });
    if (params_.residual.data != nullptr) add_residual<type>(piece, row);
    float squares = 0;
    TW_UNROLL
    for (unsigned i = 0; i < pieces; ++i) {
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        const FragmentPair pair = values_of<type>(piece[i].get(j));
        squares += pair.first * pair.first + pair.second * pair.second;
      }
    }
    const float all = std::bit_cast<float>(sum_.of(std::bit_cast<std::uint32_t>(squares)));
    const float mean = all / static_cast<float>(params_.k);
    const float inverse = 1.0f / std::sqrt(mean + params_.epsilon);
    Piece* const to = line(params_.output, row);
    each_piece([&](unsigned i, unsigned at) {
      Piece made;
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        const FragmentPair pair = values_of<type>(piece[i].get(j)) * inverse;
        made.set(j, pack<type>(pair * values_of<type>(weight[i].get(j))));
      }
      store_element<Space::Global>(to + at, made);
    });
  }

  template <ElementType type>
  TW_DEVICE void add_residual(Piece (&piece)[pieces], unsigned row) const {
    const Piece* const from = line(params_.residual, row);
    Piece* const to = line(params_.sum, row);
    each_piece([&](unsigned i, unsigned at) {
      const Piece added = load_element<Space::Global>(from + at);
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        piece[i].set(j,
                     pack<type>(values_of<type>(piece[i].get(j)) + values_of<type>(added.get(j))));
      }
      store_element<Space::Global>(to + at, piece[i]);
    });
  }

  const Params& params_;
  unsigned thread_;
  Sum sum_;
};

template <class Page, class Named>
struct RmsNorm : Streamed<Page, Named> {
  using Stream = RmsNormStream<Named::config>;
  static constexpr bool dependent_launch = Named::config.dependent_launch;
};

}  // namespace tw
