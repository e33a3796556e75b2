#include "src/layout_tool/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tw::layout_tool {

namespace {

constexpr int group_banks = 4;

int to_byte(double linear) {
  const double value = std::clamp(linear, 0.0, 1.0);
  const double encoded =
      value <= 0.0031308 ? 12.92 * value : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
  return static_cast<int>(std::lround(255 * encoded));
}

// From Oklch, where equal steps look equal; the constants are those of its definition.
std::string from_oklch(double lightness, double chroma, double degrees) {
  const double hue = degrees * std::numbers::pi / 180;
  const double a = chroma * std::cos(hue);
  const double b = chroma * std::sin(hue);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return fmt::format("#{:02x}{:02x}{:02x}",
                     to_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                     to_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                     to_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
}

}  // namespace

std::string bank_colour(int bank, int banks) {
  const int group = bank / group_banks;
  const double degrees = 20 + 360.0 * group / (static_cast<double>(banks) / group_banks);
  return from_oklch(0.93 - 0.028 * (bank % group_banks), 0.058, degrees);
}

}  // namespace tw::layout_tool
