// Where a function may run. constexpr functions need none of these: nvcc is called with
// --expt-relaxed-constexpr, and on the virtual GPU everything is host code.
#pragma once

#if defined(__CUDACC__)
#define TW_HOST_DEVICE __host__ __device__
#define TW_DEVICE __device__ __forceinline__
#elif defined(__HIP__)
#define TW_HOST_DEVICE __attribute__((host, device))
#define TW_DEVICE __attribute__((device, always_inline)) inline
#else
#define TW_HOST_DEVICE
#define TW_DEVICE inline
#endif

// True while a GPU's machine code is made: no exceptions, no observers.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define TW_ON_DEVICE 1
#else
#define TW_ON_DEVICE 0
#endif

// A kernel whose CTAs come in clusters of `size`. Targets before sm_90 refuse the word.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define TW_CLUSTER(size)
#else
#define TW_CLUSTER(size) __cluster_dims__(size, 1, 1)
#endif

#if defined(__CUDA_ARCH__)
#define TW_TRAP() __trap()
#else
#define TW_TRAP() __builtin_trap()
#endif

// True where instructions are the virtual GPU's models: neither vendor's compiler is at work.
#if defined(__CUDACC__) || defined(__HIP__)
#define TW_MODELLED 0
#else
#define TW_MODELLED 1
#endif

// Loops over fragments must be unrolled, or register arrays move to local memory. TW_ROLL: the body
// is large enough to stand once.
#if TW_ON_DEVICE
#define TW_UNROLL _Pragma("unroll")
#define TW_ROLL _Pragma("unroll 1")
#else
#define TW_UNROLL
#define TW_ROLL
#endif

// A move-only value that must not be used after it was moved from: clang checks it (-Wconsumed).
#if defined(__clang__) && !defined(__CUDACC__)
#define TW_CONSUMABLE __attribute__((consumable(unconsumed)))
#define TW_BORN(state) __attribute__((return_typestate(state)))
#define TW_NOT_AFTER_MOVE __attribute__((callable_when("unconsumed")))
#else
#define TW_CONSUMABLE
#define TW_BORN(state)
#define TW_NOT_AFTER_MOVE
#endif

// Stands before the body of a lambda that a loop of ours calls. clang would inline it late, and
// keep the values that it captures in scratch memory until then.
#if defined(__HIP__)
#define TW_LOOP_BODY __attribute__((always_inline))
#else
#define TW_LOOP_BODY
#endif
