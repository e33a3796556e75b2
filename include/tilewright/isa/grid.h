// How a grid follows another.
// The names mean the same on every target, or nothing where it lacks the mechanism. The virtual
// GPU's models stand in isa/ptx.
#pragma once

#if defined(__HIP__)
#include "tilewright/isa/amdgcn/grid.h"
#else
#include "tilewright/isa/ptx/grid.h"
#endif
