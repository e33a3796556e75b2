// Random blockwise FP8 products, the same for the virtual GPU and the real one.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "src/blockwise_fp8/random_shape.h"

namespace tw::tests {

inline std::uint64_t base_seed() {
  const char* text = std::getenv("TW_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20261115;
}

using namespace blockwise;

}  // namespace tw::tests
