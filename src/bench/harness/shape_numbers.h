// Numbers of a shape on the command line.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tw::bench {

// All that `separator` parts in `text`; none where a part is no number, or none of 64 bits.
inline std::vector<std::int64_t> numbers_in(std::string_view text, char separator) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) return {};
    numbers.push_back(number);
    if (behind == end) return numbers;
    if (*behind != separator) return {};
    at = behind + 1;
  }
}

}  // namespace tw::bench
