// What a TMA descriptor of a bf16 matrix says, before it is encoded for a GPU or the virtual GPU.
#pragma once

#include <cstdint>

#include "tilewright/isa/model.h"

namespace tw {

// Row-major; the box is copied with the 128-byte swizzle, so its rows are 64 bf16.
struct MatrixBox {
  const void* base;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t pitch;  // elements
  unsigned box_rows;
  unsigned box_columns;
};

}  // namespace tw
