// Hints about global memory.
// The names mean the same on every target, or nothing where it lacks the mechanism. The virtual
// GPU's models stand in isa/ptx.
#pragma once

#if defined(__HIP__)
#include "tilewright/isa/amdgcn/global_memory.h"
#else
#include "tilewright/isa/ptx/global_memory.h"
#endif
