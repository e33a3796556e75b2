// How an operand's tile lies in shared memory, whoever brings it and whatever reads it: lines of
// 128 bytes, swizzled over 128 bytes.
#pragma once

#include "tilewright/io/major.h"
#include "tilewright/layout/coalesce.h"
#include "tilewright/layout/recast.h"

namespace tw {

// (row,k,span), in elements: a span of K after the other. K-major, a line is a row of a span;
// MN-major, it is 128 bytes of m or n of one k, a span of such lines is a box, and the next rows
// are the next box.
//
//   bf16, 128 rows, 2 spans, K-major   (128,64,2):(64,1,8192)            swizzle {3,3,3}
//   the same, MN-major                 ((64,2),64,2):((1,4096),64,8192)  swizzle {3,3,3}
constexpr Layout operand_layout(unsigned rows, unsigned span_k, unsigned spans, Major major,
                                unsigned element_bytes) {
  const int chunk_bits = element_bytes == 1 ? 4 : element_bytes == 2 ? 3 : 2;
  const Layout span = single(spans, std::int64_t{rows} * span_k);
  const Layout plain =
      major == Major::K
          ? from_modes(single(rows, span_k), single(span_k, 1), span)
          : from_modes(
                from_modes(single(span_k, 1), single(rows / span_k, std::int64_t{span_k} * span_k)),
                single(span_k, span_k), span);
  return with_swizzle(plain, Swizzle{3, chunk_bits, 3});
}

// The same in every stage of a ring, as the last mode; 0 bytes: of one stage.
constexpr Layout in_stages(const Layout& layout, unsigned stage_bytes, unsigned element_bytes) {
  if (stage_bytes == 0) return layout;
  constexpr unsigned most_bytes = 228 << 10;  // an SM's: no ring has more stages than fit there
  require(stage_bytes % element_bytes == 0, "in_stages: a stage holds whole elements");
  return append(layout, single(most_bytes / stage_bytes, stage_bytes / element_bytes));
}

// (line,chunk), in chunks of 16 bytes: a tile in the order of memory, for whoever fills all of it.
constexpr Layout lines_of(const Layout& tile, unsigned element_bytes) {
  const Layout chunks = upcast(tile, 16 / element_bytes);
  const std::int64_t lines = size(chunks) / 8;
  require(cosize(chunks) == 8 * lines, "lines_of: the tile has gaps between its lines");
  return with_swizzle(row_major(lines, 8), chunks.swizzle);
}

// (stage,span,chunk): the same of a K-major tile of a ring, each span for itself. There is no
// swizzle: it moves chunks inside of their lines only.
constexpr Layout rows_of(const Layout& tile, unsigned element_bytes) {
  const Layout chunks = without_swizzle(upcast(tile, 16 / element_bytes));
  return from_modes(mode(chunks, 3), mode(chunks, 2), coalesce(select(chunks, 1, 0)));
}

}  // namespace tw
