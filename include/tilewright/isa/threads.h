// Threads, warps and CTAs: where one stands in them, and how they wait for each other.
// The names mean the same on every target, or nothing where it lacks the mechanism. The virtual
// GPU's models stand in isa/ptx.
#pragma once

#if defined(__HIP__)
#include "tilewright/isa/amdgcn/threads.h"
#else
#include "tilewright/isa/ptx/threads.h"
#endif
