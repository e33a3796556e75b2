// Where a function may run. constexpr functions need none of these: nvcc is called with
// --expt-relaxed-constexpr, and on the virtual GPU everything is host code.
#pragma once

#if defined(__CUDACC__)
#define TW_HOST_DEVICE __host__ __device__
#define TW_DEVICE __device__ __forceinline__
#else
#define TW_HOST_DEVICE
#define TW_DEVICE inline
#endif

// Loops over fragments must be unrolled, or register arrays move to local memory.
#if defined(__CUDA_ARCH__)
#define TW_UNROLL _Pragma("unroll")
#define TW_TRAP() __trap()
#else
#define TW_UNROLL
#define TW_TRAP() __builtin_trap()
#endif
