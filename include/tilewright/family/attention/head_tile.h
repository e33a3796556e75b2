// Rows of one head in shared memory: a tile of queries, keys or values.
#pragma once

#include <cstdint>

#include "tilewright/io/major.h"
#include "tilewright/io/operand_layout.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/layout/shared_tile.h"
#include "tilewright/number/element_type.h"

namespace tw {

// `rows` by `columns`, in spans of a line of each row, 128 bytes or 64, swizzled.
struct HeadTile {
  unsigned rows = 128;
  unsigned columns = 128;
  ElementType type = ElementType::Bf16;
  unsigned line_bytes = 128;

  static constexpr unsigned span_columns = 64;  // 16 bits each
  constexpr unsigned columns_of_span() const { return line_bytes / bytes_of(type); }
  constexpr unsigned spans() const { return columns / columns_of_span(); }
  constexpr unsigned bytes() const { return rows * columns * bytes_of(type); }

  // (row,k,span), K-major: queries by columns, and keys by columns.
  constexpr Layout by_columns() const {
    const Layout layout =
        operand_layout(rows, columns_of_span(), spans(), Major::K, bytes_of(type));
    if (line_bytes == 128) return layout;
    Swizzle swizzle = layout.swizzle;
    swizzle.bits = 2;
    return with_swizzle(without_swizzle(layout), swizzle);
  }
  // The same memory as (column,row,1), MN-major: values are multiplied along their rows.
  constexpr Layout by_rows() const {
    const Layout layout = by_columns();
    const Layout columns_of = from_modes(mode(layout, 1), mode(layout, 2));
    return from_modes(columns_of, mode(layout, 0), single(1, std::int64_t{rows} * columns));
  }
};

// Rows of all heads in global memory, for loaders that copy by threads; strides count elements.
template <class Element = std::uint16_t>
struct HeadView {
  const Element* data;
  std::int64_t token_stride;
  std::int64_t head_stride;
  int columns;
};

// Zeros for the rows from `first` on of one stage of a ring (row,column,span,stage), by `threads`
// threads.
template <class Rows>
TW_DEVICE void clear_rows(const Rows& ring, unsigned stage, unsigned first, unsigned thread,
                          unsigned threads) {
  const auto chunks = ring.template chunks<16>();
  constexpr unsigned rows = Rows::template static_extent<0>;
  constexpr unsigned spans = Rows::template static_extent<2>;
  constexpr unsigned line = Rows::template static_extent<1> * sizeof(typename Rows::Value) / 16;
  const std::uint32_t zeros[4] = {};
  for (unsigned i = thread; i < (rows - first) * line * spans; i += threads) {
    const unsigned row = first + i / (line * spans);
    isa::store_shared_16(chunks.address(row, i % line, i / line % spans, stage), zeros);
  }
}

// One stage, or with stages behind each other a ring: the tile as TMA fills it, and as the tensor
// core reads it.
template <HeadTile tile, Major major, unsigned stage_bytes = 0>
struct HeadTensors {
  static constexpr ElementType type = tile.type;
  using Element = tw::Element<type>;
  using Rows = SharedTile<Element, in_stages(tile.by_columns(), stage_bytes, bytes_of(type))>;
  using Operand =
      SharedTile<Element, in_stages(major == Major::K ? tile.by_columns() : tile.by_rows(),
                                    stage_bytes, bytes_of(type))>;

  Rows rows;        // (row,column,span)
  Operand operand;  // (row,k,span), or (column,k,1) of values

  TW_DEVICE explicit HeadTensors(SharedAddress first_stage)
      : rows(first_stage), operand(first_stage) {}
};

}  // namespace tw
