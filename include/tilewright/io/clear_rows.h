// Rows of an operand that no copy fills.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/operand_layout.h"
#include "tilewright/io/tiling.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/layout/shared_tile.h"

namespace tw {

// Rows of A below those that are loaded, in each of `count` stages: by all `threads` of a CTA. `a`
// is (m,k,span,stage).
template <Tiling tiling, class Tensor>
TW_DEVICE void clear_rows(const Tensor& a, unsigned count, unsigned thread, unsigned threads) {
  constexpr Layout rows = rows_of(Tensor::tensor_layout(), sizeof(typename Tensor::Value));
  using Chunks = SharedTile<Chunk<16>, rows>;  // (stage,span,chunk)
  constexpr unsigned of_span = Chunks::template static_extent<2>;
  constexpr unsigned filled = of_span / tiling.m * tiling.a_rows();
  constexpr unsigned pieces = of_span - filled;
  const Chunks chunks = a.template as<Chunk<16>, rows>().template from<1, 2>(filled);
  const std::uint32_t zeros[4] = {};
  for (unsigned i = thread; i < count * tiling.spans * pieces; i += threads) {
    const unsigned at = i / pieces;
    const auto span = chunks.slice(at / tiling.spans, at % tiling.spans, whole);
    isa::store_shared_16(span.address(i % pieces), zeros);
  }
}

}  // namespace tw
