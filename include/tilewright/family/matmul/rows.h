// Products with few rows of A: B goes through registers into mma.sync, once, at any alignment. A
// CTA has some rows of B and all of their k, of which each warp takes every so many steps.
#pragma once

#include "tilewright/epilogue/global_source.h"
#include "tilewright/epilogue/runtime.h"
#include "tilewright/family/matmul/lane_rows.h"
#include "tilewright/family/matmul/row_products.h"
#include "tilewright/io/divisor.h"
#include "tilewright/isa/global_memory.h"
#include "tilewright/kernel/streaming.h"
#include "tilewright/pipeline/warp_parts.h"

namespace tw {

// `b_rows` rows of B by `a_rows` of A, `spans` times 128 bytes of each at a time.
template <ElementType type, ElementType output, unsigned b_rows, unsigned a_rows,
          unsigned warp_count, unsigned spans>
class RowStream {
  static_assert(b_rows % 16 == 0 && a_rows % 8 == 0, "A product has 16 rows of B and 8 of A.");
  static constexpr unsigned pieces = 2 * spans;
  using RowsOfA = LaneRows<a_rows / 8>;
  using RowsOfB = LaneRows<b_rows / 8>;
  using Products = RowProducts<type, b_rows / 16, a_rows / 8>;
  using Parts = WarpParts<warp_count, a_rows, b_rows>;

 public:
  static constexpr unsigned threads = 32 * warp_count;
  // A thread may have so many registers beside 16 warps on an SM, or 8 where sums are many.
  static constexpr unsigned least_ctas = a_rows * b_rows > 512 ? 1 : 16 / warp_count;
  using Storage = typename Parts::Storage;

  struct Params {
    typename RowsOfA::Matrix a;
    typename RowsOfB::Matrix b;
    GlobalMatrix d;
    Divisor m_tiles, n_tiles;
    int m, n, k;   // k is 0 where nothing is to be read
    bool aligned;  // rows of A and B begin at multiples of 16 bytes
    // Steps of each warp, of the first tiles, whose rows of B are asked for before the grids before
    // have ended; no tiles where one of these may write B.
    unsigned early_steps, early_tiles;
    EpilogueArguments epilogue;
  };

  TW_DEVICE RowStream(const Params& params, Storage& storage, unsigned thread)
      : params_(params), parts_(storage), thread_(thread) {}

  // The first steps of each warp's rows of B, to the L2.
  TW_DEVICE void ask_early(unsigned tile) const {
    if (tile >= params_.early_tiles) return;
    constexpr unsigned line = 64;  // elements
    params_.m_tiles.split(tile);
    const int column = static_cast<int>(params_.n_tiles.split(tile) * b_rows);
    const auto* const matrix = params_.b.begin + tile * params_.b.batch_pitch;
    TW_ROLL
    for (unsigned i = lane(); i < params_.early_steps * spans * b_rows; i += 32) {
      const int row = column + static_cast<int>(i / spans % b_rows);
      const unsigned step = i / (spans * b_rows) * warp_count + warp();
      const int k = static_cast<int>((step * spans + i % spans) * line);
      if (row < params_.b.rows && k < params_.k) {
        isa::prefetch_global(matrix + row * params_.b.pitch + k);
      }
    }
  }

  // Tiles of the same rows of B follow each other: of those, only the first reads memory.
  TW_DEVICE void pass(unsigned tile) {
    const unsigned m_tile = params_.m_tiles.split(tile);
    const unsigned n_tile = params_.n_tiles.split(tile);
    const int row = static_cast<int>(m_tile * a_rows), column = static_cast<int>(n_tile * b_rows);
    Products products;
    if (params_.aligned) {
      multiply<true>(products, tile, row, column);
    } else {
      multiply<false>(products, tile, row, column);
    }
    parts_.exchange([&] {
      products.each(lane(), [&](unsigned b_row, unsigned a_row, float sum) {
        parts_.set(warp(), a_row, b_row, sum);
      });
    });
    finish(static_cast<int>(tile), row, column);
  }

 private:
  TW_DEVICE unsigned lane() const { return thread_ % 32; }
  TW_DEVICE unsigned warp() const { return thread_ / 32; }

  static TW_DEVICE int larger(int left, int right) { return left > right ? left : right; }
  static TW_DEVICE int smaller(int left, int right) { return left < right ? left : right; }

  template <bool aligned>
  TW_DEVICE void multiply(Products& products, unsigned batch, int row, int column) const {
    const RowsOfA a(params_.a, params_.k, batch, row, lane());
    const RowsOfB b(params_.b, params_.k, batch, column, lane());
    constexpr int step = 32 * int{pieces};
    const int begin = aligned ? 0 : larger(a.inner_begin(), b.inner_begin());
    const int end = aligned ? params_.k : smaller(a.inner_end(), b.inner_end());
    TW_ROLL
    for (int k = static_cast<int>(warp()) * step; k < params_.k; k += int{warp_count} * step) {
      if (k >= begin && k + step <= end) {
        FetchedRows<b_rows / 8, pieces> of_b;
        b.template fetch<aligned>(of_b, k);
        TW_UNROLL
        for (unsigned piece = 0; piece < pieces; ++piece) {
          FetchedRows<a_rows / 8, 1> of_a;
          a.template fetch<aligned>(of_a, k + 32 * static_cast<int>(piece));
          products.add(of_b, piece, of_a);
        }
        continue;
      }
      TW_ROLL
      for (int at = k; at < k + step; at += 32) {
        FetchedRows<b_rows / 8, 1> of_b;
        FetchedRows<a_rows / 8, 1> of_a;
        b.fetch_at_end(of_b, at, params_.k, lane());
        a.fetch_at_end(of_a, at, params_.k, lane());
        products.add(of_b, 0, of_a);
      }
    }
  }

  // The epilogue asks for the place of each pair of elements; here it has one pair.
  struct PlaceOf {
    static constexpr bool transposed = false;
    FragmentPlace<2> place;
    TW_DEVICE FragmentPlace<2> operator()(unsigned) const { return place; }
    TW_DEVICE bool columns_inside() const { return place.column + 1 < place.n; }
  };

  // Whole warps call it, a pair of columns for each thread.
  TW_DEVICE void finish(int batch, int row, int column) const {
    constexpr unsigned pairs = a_rows * b_rows / 2;
    static_assert(pairs % 32 == 0);
    const auto end = [&](const auto& program) {
      typename std::remove_cvref_t<decltype(program)>::State state{};
      TW_ROLL
      for (unsigned i = thread_; i < pairs; i += threads) {
        const unsigned a_row = i / (b_rows / 2), b_row = i % (b_rows / 2) * 2;
        const PlaceOf place_of = {{batch, row + static_cast<int>(a_row),
                                   column + static_cast<int>(b_row), params_.m, params_.n}};
        FragmentPair sum;
        parts_.sum(sum.first, sum.second, a_row, b_row);
        FragmentPair values[1] = {program.begin(sum)};
        program.evaluate(state, values, place_of, GlobalSource{});
        if (program.gates()) {
          write_pair<output>(params_.d, gated(place_of.place), values[0], false);
        } else {
          write_pair<output>(params_.d, place_of.place, values[0],
                             params_.d.template in_pairs<output>() && place_of.columns_inside());
        }
      }
      program.finish(state, lane());
    };
    RuntimeEpilogue::choose<float, output, GlobalSource>(params_.epilogue, false, end);
  }

  const Params& params_;
  Parts parts_;
  unsigned thread_;
};

}  // namespace tw
