// Random grouped products, the same for the virtual GPU and the real one.
#pragma once

#include <cstdlib>

#include "src/grouped/random_shape.h"

namespace tw::tests {

using grouped::between;
using grouped::Random;
using grouped::random_shape;

inline std::uint64_t base_seed() {
  const char* text = std::getenv("TW_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20261115;
}

}  // namespace tw::tests
