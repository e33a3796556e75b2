// Sentences with values in them.
#pragma once

#include <string>
#include <type_traits>

#include "tilewright/base/shortest.h"

namespace tw {

// "m = {} must be even." with the values in their places.
template <class... Values>
std::string sentence(const char* format, const Values&... values) {
  [[maybe_unused]] const auto text = [](const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, float>)
      return shortest(value);
    else if constexpr (std::is_arithmetic_v<Value>)
      return std::to_string(value);
    else
      return std::string(value);
  };
  const std::string texts[] = {text(values)..., std::string()};
  const std::string* next = texts;
  std::string result;
  for (const char* at = format; *at != 0; ++at) {
    if (at[0] == '{' && at[1] == '}') {
      result += *next++;
      ++at;
    } else {
      result += *at;
    }
  }
  return result;
}

}  // namespace tw
