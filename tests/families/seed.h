// The seed of random problems; tests print it.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace tw::tests {

inline std::uint64_t base_seed() {
  const char* text = std::getenv("TW_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20261115;
}

}  // namespace tw::tests
