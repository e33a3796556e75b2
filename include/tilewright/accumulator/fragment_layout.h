// What the epilogue asks of sums, wherever they lie: which thread holds which value.
#pragma once

#include <concepts>
#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/base/converts.h"

namespace tw {

enum class FragmentLayout : unsigned {
  // wgmma, mma.sync: a warp holds 16 rows as 8 by 8 matrices. Lane l of warp w has row
  // 16 w + l / 4 (and 8 below it), columns 2 (l % 4) and the next of each matrix.
  Matrix,
  // Tensor memory read by tcgen05.ld 32x32b: a thread has a row, and gets 32 columns at a time.
  Row,
};

// A number for each of the two rows of a block of sums that a thread holds values of.
struct RowPair {
  float upper;
  float lower;
  // The number for the row of a thread's value i, where `run` values of a row follow each other.
  template <unsigned run = 2>
  TW_DEVICE float of(unsigned i) const {
    return i / run % 2 == 0 ? upper : lower;
  }
};

// A tile of `blocks` blocks, each of block_rows by `columns`, held by one group of threads. Value i
// of a thread in a block stands at row_of(thread, i), column_of(thread, i) of the block; values
// 2 i and 2 i + 1 are neighbours in a row.
template <class T>
concept SumTile = requires {
  requires std::same_as<typename T::Value, float> || std::same_as<typename T::Value, std::int32_t>;
  { T::layout } -> ConvertsTo<FragmentLayout>;
  { T::blocks } -> ConvertsTo<unsigned>;
  { T::block_rows } -> ConvertsTo<unsigned>;
  { T::columns } -> ConvertsTo<unsigned>;
};

template <class T>
concept MatrixSums = SumTile<T> &&
                     T::layout == FragmentLayout::Matrix&& requires(const T& sum, unsigned i) {
  { sum.value(i, i) } -> std::same_as<typename T::Value>;  // (block, value of the thread)
  { T::row_of(i, i) } -> std::same_as<unsigned>;
  { T::column_of(i, i) } -> std::same_as<unsigned>;
};

// Thread t has row t of the one block. A row that lies in registers says so by `in_registers`: it
// is then loaded by constants only.
template <class T>
concept RowSums = SumTile<T> && T::layout == FragmentLayout::Row&& T::blocks == 1 &&
                  requires(const T& sum, int first_column, typename T::Value (&values)[32]) {
  sum.load(first_column, values);
};

template <class T>
inline constexpr bool in_registers = MatrixSums<T> || requires {
  requires T::in_registers;
};

// A row of which another sum shares columns: they are to be read first, and who has read them says
// so. chunk_at(i, chunks) is the i-th chunk to read.
template <class T>
concept OverlappedSums = RowSums<T> && requires(const T& sum, unsigned count) {
  { T::shared_columns } -> ConvertsTo<unsigned>;
  { sum.chunk_at(count, count) } -> std::same_as<unsigned>;
  sum.has_read(count);  // columns
};

template <class T>
concept FragmentSums = MatrixSums<T> || RowSums<T>;

// The facts of `Sum`, for a tile of sums that holds the same values elsewhere.
template <class Sum>
struct SumsLike {
  using Value = typename Sum::Value;
  static constexpr FragmentLayout layout = Sum::layout;
  static constexpr unsigned blocks = Sum::blocks;
  static constexpr unsigned block_rows = Sum::block_rows;
  static constexpr unsigned columns = Sum::columns;
  static constexpr unsigned row_of(unsigned thread, unsigned i) { return Sum::row_of(thread, i); }
  static constexpr unsigned column_of(unsigned thread, unsigned i) {
    return Sum::column_of(thread, i);
  }
};

// Sums of whole parts. A copy: ptxas serialises wgmma where the tensor core's own registers change
// in a branch.
template <class Sum>
struct TotalSums : SumsLike<Sum> {
  using Value = typename Sum::Value;
  Value values[Sum::blocks][Sum::columns / 2];
  TW_DEVICE Value value(unsigned block, unsigned i) const { return values[block][i]; }
};

}  // namespace tw
