// Must compile as it is, and must not compile with TW_MISUSE: reports show a role by its name.
#include "tilewright/pipeline/payload.h"

#if defined(TW_MISUSE)
constexpr tw::Role role = "";
#else
constexpr tw::Role role = "correct";
#endif
