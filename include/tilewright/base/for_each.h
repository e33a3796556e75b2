// A loop that is unrolled or not, as its caller says: registers have no index, so that what picks
// them by number must be unrolled.
#pragma once

#include "tilewright/base/annotate.h"

// Stands before the body of a lambda that for_each calls. clang would inline it late, and keep the
// values that it captures in scratch memory until then.
#if defined(__HIP__)
#define TW_LOOP_BODY __attribute__((always_inline))
#else
#define TW_LOOP_BODY
#endif

namespace tw {

template <unsigned count, bool unrolled, class Use>
TW_DEVICE void for_each(const Use& use) {
  if constexpr (unrolled) {
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) use(i);
  } else {
    TW_ROLL
    for (unsigned i = 0; i < count; ++i) use(i);
  }
}

}  // namespace tw
