// Where a fit begins that shall not know what an earlier one found.
#pragma once

#include <cmath>

namespace tw::bench {

// The nearest power of four keeps a constant's magnitude, which follows from its unit, and nothing
// that a fit found: a factor from a half to two becomes 1.
inline double neutral(double value) { return std::exp2(2 * std::round(std::log2(value) / 2)); }

}  // namespace tw::bench
