// One way to refuse: a sentence. In a constant expression a failed `require` is a compile error
// that shows the sentence; at run time on the host it throws Refusal, which `attempt` turns into a
// Status.
#pragma once

#include "tilewright/base/annotate.h"

// A GPU throws nothing, and its compilers need a quarter of a second for what exceptions include.
#if !TW_ON_DEVICE
#include "tilewright/base/refusal.h"
#endif

namespace tw {

// Not constexpr on purpose: reaching it during constant evaluation stops the compiler, and all
// three compilers print the argument. (With a plain `throw`, nvcc prints nothing.)
TW_HOST_DEVICE inline void precondition_failed([[maybe_unused]] const char* sentence) {
#if TW_ON_DEVICE
  TW_TRAP();
#else
  throw Refusal(sentence);
#endif
}

constexpr void require(bool holds, const char* sentence) {
  if (!holds) precondition_failed(sentence);
}

}  // namespace tw
