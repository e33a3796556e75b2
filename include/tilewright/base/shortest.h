// Numbers as people write them.
#pragma once

#include <charconv>
#include <string>

namespace tw {

// The shortest decimal that is this float and no other: 1e-05.
inline std::string shortest(float value) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace tw
