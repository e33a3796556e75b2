// Along which index an operand is contiguous in memory.
#pragma once

namespace tw {

// In BLAS's letters A is "t" when K-major and "n" when M-major; B is "n" when K-major and "t" when
// N-major. So "tn" is both K-major, which every instruction can read.
enum class Major : unsigned { K, MN };

}  // namespace tw
