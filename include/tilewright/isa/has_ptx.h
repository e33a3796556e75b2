// Whether the instructions of isa/ptx can be had: from NVIDIA's compiler, or as models.
#pragma once

#if defined(__HIP__)
#define TW_HAS_PTX 0
#else
#define TW_HAS_PTX 1
#endif
