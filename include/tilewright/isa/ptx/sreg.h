// Special registers, and the shared memory window.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

TW_DEVICE unsigned thread_index() {
#if defined(__CUDACC__)
  return threadIdx.x;
#else
  return model::thread_index();
#endif
}

TW_DEVICE unsigned cta_index() {
#if defined(__CUDACC__)
  return blockIdx.x;
#else
  return model::cta_index();
#endif
}

TW_DEVICE unsigned cta_count() {
#if defined(__CUDACC__)
  return gridDim.x;
#else
  return model::cta_count();
#endif
}

// mov.u32 d, %cluster_ctarank;  PTX 7.8, sm_90. Before sm_90 every CTA is alone: 0.
TW_DEVICE unsigned cluster_rank() {
#if defined(__CUDACC__) && __CUDA_ARCH__ < 900
  return 0;
#elif defined(__CUDACC__)
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return model::cluster_rank();
#endif
}

// mov.u64 d, %globaltimer;  PTX 3.1, sm_30
TW_DEVICE std::uint64_t global_timer() {
#if defined(__CUDACC__)
  std::uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
#else
  return model::global_timer();
#endif
}

// The first byte of the CTA's dynamic shared memory, aligned to 1024 bytes (the 128-byte swizzle
// repeats every 1024 bytes and is a function of the address).
TW_DEVICE void* dynamic_shared() {
#if defined(__CUDACC__)
  extern __shared__ __align__(1024) unsigned char tw_dynamic_shared[];
  return tw_dynamic_shared;
#else
  return model::dynamic_shared();
#endif
}

// cvta.to.shared: the window address of a pointer into the own CTA's shared memory.
TW_DEVICE SharedAddress shared_address(const void* pointer) {
#if defined(__CUDACC__)
  return static_cast<SharedAddress>(__cvta_generic_to_shared(pointer));
#else
  return model::shared_address(pointer);
#endif
}

// mapa.shared::cluster.u32 d, a, rank;  PTX 7.8, sm_90
TW_DEVICE SharedAddress mapa(SharedAddress address, unsigned rank) {
#if defined(__CUDACC__)
  SharedAddress mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
#else
  return model::mapa(address, rank);
#endif
}

}  // namespace tw::isa
