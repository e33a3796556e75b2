// How far lines of memory are apart, and the words for it on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tw {

// Where lines of memory begin, and how far apart they are.
enum class Spacing : std::uint8_t {
  Usual,
  FourBytes,   // lines begin at multiples of 4 bytes and no more
  EightBytes,  // the same of 8
  Gaps,        // 32 bytes of nobody lie behind each line that would end at a multiple of 16
  Far,  // offsets of the last lines, in elements, do not fit 32 bits; at most 1024 lines, on the
        // host
};

inline constexpr Spacing spacings[] = {Spacing::Usual, Spacing::FourBytes, Spacing::EightBytes,
                                       Spacing::Gaps, Spacing::Far};

constexpr const char* name_of(Spacing spacing) {
  switch (spacing) {
    case Spacing::FourBytes: return "four";
    case Spacing::EightBytes: return "eight";
    case Spacing::Gaps: return "gaps";
    case Spacing::Far: return "far";
    default: return "usual";
  }
}

inline std::optional<Spacing> spacing_of(const std::string& name) {
  for (const Spacing spacing : spacings) {
    if (name == name_of(spacing)) return spacing;
  }
  return std::nullopt;
}

// " --spacing far", or nothing.
inline std::string spacing_words(Spacing spacing) {
  return spacing == Spacing::Usual ? "" : std::string(" --spacing ") + name_of(spacing);
}

}  // namespace tw
