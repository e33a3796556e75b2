// Where a fit begins that shall not know what an earlier one found.
#pragma once

#include <cmath>

namespace tw::bench {

// The nearest power of four: of a constant above 0 its magnitude is left, which its unit gives, and
// of a factor from a half to two nothing.
inline double neutral(double value) { return std::exp2(2 * std::round(std::log2(value) / 2)); }

}  // namespace tw::bench
