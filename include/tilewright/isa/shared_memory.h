// Vector loads and stores of the own CTA's shared memory, by window address.
// The names mean the same on every target, or nothing where it lacks the mechanism. The virtual
// GPU's models stand in isa/ptx.
#pragma once

#if defined(__HIP__)
#include "tilewright/isa/amdgcn/shared_memory.h"
#else
#include "tilewright/isa/ptx/shared_memory.h"
#endif
