// What loaders are told of an operand.
#pragma once

#include <cstdint>

namespace tw {

// One operand: m or n rows by k. Strides count elements.
struct OperandView {
  const void* data;
  std::int64_t row_stride;
  std::int64_t k_stride;
  std::int64_t batch_stride;
  int rows;
  int k;
  unsigned alignment;  // what every line of memory is aligned to, in bytes: 1 to 16
};

// What one TMA copy moves: `inner` contiguous elements, 128 bytes, of `outer` lines.
struct TmaBox {
  unsigned inner;
  unsigned outer;
};

}  // namespace tw
