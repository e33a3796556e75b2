// Standard-normal data, made on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/number/narrow_float.h"

namespace tw::bench {

void fill_normal(Bf16* values, std::size_t count, std::uint64_t seed);

}  // namespace tw::bench
