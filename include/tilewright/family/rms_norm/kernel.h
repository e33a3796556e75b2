// Rows divided by the root of the mean of their squares. A CTA takes one row at a time, which stays
// in registers: thread i has the pieces of 16 bytes i, i + 256 and so on.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/bind/streamed.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/layout/tile_tensor.h"
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
  // A row in memory, and what a thread keeps of it.
  using Line = TileTensor<Piece, Space::Global, column_major(threads, pieces)>;  // (thread,piece)
  using Own = TileTensor<Piece, Space::Register, column_major(pieces)>;          // (piece)

  static TW_DEVICE Line line(const Matrix& matrix, unsigned row) {
    const std::int64_t before = row * (matrix.pitch / std::int64_t{length});
    return Line(static_cast<Piece*>(const_cast<void*>(matrix.data)) + before);
  }
  // Calls `body` with the number of each piece of the row that the thread has.
  template <class Body>
  TW_DEVICE void each_piece(const Body& body) const {
    TW_UNROLL
    for (unsigned i = 0; i < pieces; ++i) {
      const unsigned at = i * threads + thread_;
      if (at * length < params_.k) body(i);
    }
  }

  template <ElementType type>
  TW_DEVICE void normalise(unsigned row) {
    // All loads are under way together. Pieces that the row has not are zero.
    Piece kept[pieces] = {}, weight[pieces];
    const Own piece(kept);
    const Line from = line(params_.source, row), weights = line({params_.weight, 0}, 0);
    each_piece([&](unsigned i) {
      piece.store(from.load(thread_, i), i);
      weight[i] = weights.load(thread_, i);
    });
    if (params_.residual.data != nullptr) add_residual<type>(piece, row);
    float squares = 0;
    TW_UNROLL
    for (unsigned i = 0; i < pieces; ++i) {
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        const FragmentPair pair = values_of<type>(piece.load(i).get(j));
        squares += pair.first * pair.first + pair.second * pair.second;
      }
    }
    const float all = std::bit_cast<float>(sum_.of(std::bit_cast<std::uint32_t>(squares)));
    const float mean = all / static_cast<float>(params_.k);
    const float inverse = 1.0f / std::sqrt(mean + params_.epsilon);
    const Line to = line(params_.output, row);
    each_piece([&](unsigned i) {
      Piece made;
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        const FragmentPair pair = values_of<type>(piece.load(i).get(j)) * inverse;
        made.set(j, pack<type>(pair * values_of<type>(weight[i].get(j))));
      }
      to.store(made, thread_, i);
    });
  }

  template <ElementType type>
  TW_DEVICE void add_residual(const Own& piece, unsigned row) const {
    const Line from = line(params_.residual, row), to = line(params_.sum, row);
    each_piece([&](unsigned i) {
      const Piece added = from.load(thread_, i);
      Piece sum = piece.load(i);
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        sum.set(j, pack<type>(values_of<type>(sum.get(j)) + values_of<type>(added.get(j))));
      }
      piece.store(sum, i);
      to.store(sum, thread_, i);
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
