// Must compile as it is, and must not compile with TW_MISUSE: a requantised D has scales of 128
// columns, which tiles must not cut.
#include "tilewright/family/requantised/kernel.h"

#if defined(TW_MISUSE)
using Recipe = tw::RequantisedRecipe<tw::ScaledBy<1>>;
#else
using Recipe = tw::RequantisedRecipe<tw::ScaledBy<128>>;
#endif
constexpr unsigned rows = Recipe::b_scale_rows;
