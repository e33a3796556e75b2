// An epilogue as a kernel of its own: what a library pays that does not fuse it.
#pragma once

#include <cstdint>

#include "tilewright/number/element_type.h"

namespace tw::bench {

// d[row, column] = relu(d + residual[row, column] + bias[column]), in place, of bf16 or fp16;
// what is null or false is left out.
void finish(void* d, const void* residual, const void* bias, bool relu, ElementType type,
            std::int64_t rows, std::int64_t columns, void* stream);

}  // namespace tw::bench
