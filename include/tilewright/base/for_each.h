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

// Unrolled; it ends where `use` says false, as that says of every number behind. clang unrolls no
// loop that ends early: there the others are asked, too.
template <unsigned count, class Use>
TW_DEVICE void for_each_while(const Use& use) {
  TW_UNROLL
  for (unsigned i = 0; i < count; ++i) {
    [[maybe_unused]] const bool goes_on = use(i);
#if !defined(__HIP__)
    if (!goes_on) break;
#endif
  }
}

}  // namespace tw
