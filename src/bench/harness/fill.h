// Standard-normal data, made on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/number/element_type.h"

namespace tw::bench {

// `type` is bf16, fp16, e4m3 or e5m2.
void fill_normal(void* values, ElementType type, std::size_t count, std::uint64_t seed);

}  // namespace tw::bench
