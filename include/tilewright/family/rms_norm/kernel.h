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

  // A matrix of 16-bit elements, or null; the pitch is in pieces.
  struct Matrix {
    const void* data;
    std::int64_t pitch;
  };
  struct Params {
    Matrix source, residual, output, sum;
    const void* weight;
    unsigned k;
    float share;  // that a square has in the mean: 1 / k
    float epsilon;
    ElementType type;
  };
  using Sum = CtaSum<threads / 32>;
  using Storage = typename Sum::Storage;

  TW_DEVICE RmsNormStream(const Params& params, Storage& storage, unsigned thread)
      : params_(params), thread_(thread), sum_(storage, thread) {}

  // All loads of a row are under way together, before anything is asked of its type. Pieces that
  // the row has not are zero.
  TW_DEVICE void pass(unsigned row) {
    Piece piece[pieces] = {}, added[pieces] = {}, weight[pieces];
    load(piece, line(params_.source, row));
    if (adds()) load(added, line(params_.residual, row));
    load(weight, line({params_.weight, 0}, 0));
    if (params_.type == ElementType::Bf16) {
      normalise<ElementType::Bf16>(row, Own(piece), Own(added), Own(weight));
    } else {
      normalise<ElementType::Fp16>(row, Own(piece), Own(added), Own(weight));
    }
  }

 private:
  using Piece = Vector<std::uint32_t, length / 2>;  // pairs of elements
  // A row in memory, and what a thread keeps of it.
  using Line = TileTensor<Piece, Space::Global, column_major(threads, pieces)>;  // (thread,piece)
  using Own = TileTensor<Piece, Space::Register, column_major(pieces)>;          // (piece)

  TW_DEVICE bool adds() const { return params_.residual.data != nullptr; }
  static TW_DEVICE Line line(const Matrix& matrix, unsigned row) {
    const std::int64_t before = row * matrix.pitch;
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

  TW_DEVICE void load(Piece (&kept)[pieces], const Line& from) const {
    const Own own(kept);
    each_piece([&](unsigned i) { own.store(from.load(thread_, i), i); });
  }

  template <ElementType type>
  TW_DEVICE void normalise(unsigned row, const Own& piece, const Own& added, const Own& weight) {
    if (adds()) add<type>(piece, added, line(params_.sum, row));
    float squares = 0;
    float second_squares = 0;  // a second chain of additions: that of second elements
    TW_UNROLL
    for (unsigned i = 0; i < pieces; ++i) {
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        const FragmentPair pair = values_of<type>(piece.load(i).get(j));
        squares += pair.first * pair.first;
        second_squares += pair.second * pair.second;
      }
    }
    const float own = squares + second_squares;
    const float all = std::bit_cast<float>(sum_.of(std::bit_cast<std::uint32_t>(own)));
    const float inverse = 1.0f / std::sqrt(std::fma(all, params_.share, params_.epsilon));
    const Line to = line(params_.output, row);
    each_piece([&](unsigned i) {
      Piece made;
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        const FragmentPair pair = values_of<type>(piece.load(i).get(j)) * inverse;
        made.set(j, pack<type>(pair * values_of<type>(weight.load(i).get(j))));
      }
      to.store(made, thread_, i);
    });
  }

  // The sum, which is also stored.
  template <ElementType type>
  TW_DEVICE void add(const Own& piece, const Own& added, const Line& to) const {
    each_piece([&](unsigned i) {
      const Piece other = added.load(i);
      Piece sum = piece.load(i);
      TW_UNROLL
      for (int j = 0; j < static_cast<int>(length / 2); ++j) {
        sum.set(j, pack<type>(values_of<type>(sum.get(j)) + values_of<type>(other.get(j))));
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
