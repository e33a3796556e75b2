// One way to refuse: a sentence. In a constant expression a failed `require` is a compile error
// that shows the sentence; at run time on the host it throws Refusal, which `attempt` turns into a
// Status.
#pragma once

#include "tilewright/base/annotate.h"

// Compiled for an AMD GPU there is no host side, and no exceptions.
#if !defined(__AMDGCN__)
#include <stdexcept>

namespace tw {

struct Refusal : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace tw
#endif

namespace tw {

// Not constexpr on purpose: reaching it during constant evaluation stops the compiler, and all
// three compilers print the argument. (With a plain `throw`, nvcc prints nothing.)
TW_HOST_DEVICE inline void precondition_failed([[maybe_unused]] const char* sentence) {
#if defined(__CUDA_ARCH__) || defined(__AMDGCN__)
  TW_TRAP();
#else
  throw Refusal(sentence);
#endif
}

constexpr void require(bool holds, const char* sentence) {
  if (!holds) precondition_failed(sentence);
}

}  // namespace tw
