// Exponentials and logarithms to the base 2.
// The names mean the same on every target, or nothing where it lacks the mechanism. The virtual
// GPU's models stand in isa/ptx.
#pragma once

#if defined(__HIP__)
#include "tilewright/isa/amdgcn/exponential.h"
#else
#include "tilewright/isa/ptx/exponential.h"
#endif
