// Whether the instructions of isa/amdgcn can be had: from a compiler for AMD, or as models.
#pragma once

#if defined(__CUDACC__)
#define TW_HAS_AMDGCN 0
#else
#define TW_HAS_AMDGCN 1
#endif
