// Threads, warps, CTAs and clusters: where one stands in them, and how they wait for each other.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"
#include "tilewright/isa/ptx/special_registers.h"

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

// What a warp executes together.

// WARP_SZ;  PTX 1.0, sm_10. How many lanes a warp has.
TW_DEVICE unsigned warp_lanes() {
#if defined(__CUDACC__)
  return 32;
#else
  return model::warp_lanes();
#endif
}

// elect.sync _|p, 0xffffffff;  PTX 8.0, sm_90. True in exactly one lane; before
// sm_90 that is lane 0.
TW_DEVICE bool elect_one() {
#if defined(__CUDACC__) && __CUDA_ARCH__ < 900
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane == 0;
#elif defined(__CUDACC__)
  unsigned elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(elected));
  return elected != 0;
#else
  return model::elect_one();
#endif
}

// bar.warp.sync 0xffffffff;  PTX 6.0, sm_30
TW_DEVICE void warp_sync() {
#if defined(__CUDACC__)
  __syncwarp();
#else
  model::warp_sync();
#endif
}

// shfl.sync.idx.b32;  PTX 6.0, sm_30. With a constant lane it also tells the compiler that the
// result is the same in all lanes, so that it may live in a uniform register.
TW_DEVICE std::uint32_t shuffle(std::uint32_t value, unsigned source_lane) {
#if defined(__CUDACC__)
  return __shfl_sync(0xffffffffu, value, source_lane);
#else
  return model::shuffle(value, source_lane);
#endif
}

// setmaxnreg.dec.sync.aligned.u32 n;  PTX 8.0, sm_90a. Earlier targets keep what they launched
// with.
template <unsigned registers>
TW_DEVICE void setmaxnreg_decrease() {
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0,
                "setmaxnreg takes 24 to 256 registers in steps of 8.");
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
#endif
#else
  model::setmaxnreg(registers, false);
#endif
}

// A division is a chain of 120 cycles: multipliers that the host made are worth their registers.
inline constexpr bool foresees_divisions = true;

// setmaxnreg.inc.sync.aligned.u32 n;  PTX 8.0, sm_90a
template <unsigned registers>
TW_DEVICE void setmaxnreg_increase() {
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0,
                "setmaxnreg takes 24 to 256 registers in steps of 8.");
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
#endif
#else
  model::setmaxnreg(registers, true);
#endif
}

// Barriers: named (bar), cluster (barrier.cluster) and memory barriers with phases (mbarrier).

// barrier.sync.aligned id, threads;  PTX 6.0, sm_30
TW_DEVICE void barrier_sync(unsigned id, unsigned threads) {
#if defined(__CUDACC__)
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  model::barrier_sync(id, threads);
#endif
}

// barrier.arrive.aligned id, threads;  PTX 6.0, sm_30
TW_DEVICE void barrier_arrive(unsigned id, unsigned threads) {
#if defined(__CUDACC__)
  asm volatile("barrier.arrive.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  model::barrier_arrive(id, threads);
#endif
}

// barrier.cluster.arrive.relaxed.aligned;  PTX 8.0, sm_90. Publishes nothing by itself: barrier
// inits travel by fence_mbarrier_init.
TW_DEVICE void cluster_arrive() {
#if defined(__CUDACC__)
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#else
  model::cluster_arrive();
#endif
}

// barrier.cluster.wait.acquire.aligned;  PTX 7.8, sm_90
TW_DEVICE void cluster_wait() {
#if defined(__CUDACC__)
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  model::cluster_wait();
#endif
}

// mbarrier.init.shared::cta.b64 [barrier], arrivals;  PTX 7.0, sm_80
TW_DEVICE void mbarrier_init(SharedAddress barrier, unsigned arrivals) {
#if defined(__CUDACC__)
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
#else
  model::mbarrier_init(barrier, arrivals);
#endif
}

// fence.mbarrier_init.release.cluster;  PTX 8.0, sm_90. Before sm_90 there are neither peers nor
// bulk copies to tell of an init, and it compiles to nothing.
TW_DEVICE void fence_mbarrier_init() {
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
#else
  model::fence_mbarrier_init();
#endif
}

// mbarrier.arrive.release.cta.shared::cta.b64 _, [barrier];  PTX 7.0, sm_80
TW_DEVICE void mbarrier_arrive(SharedAddress barrier) {
#if defined(__CUDACC__)
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#else
  model::mbarrier_arrive(barrier);
#endif
}

// mbarrier.arrive.shared::cluster.b64 _, [barrier];  PTX 8.0, sm_90.
// The barrier may lie in any CTA of the cluster: the address comes from mapa. Without a wider scope
// it orders only what the own CTA sees: enough to say that asynchronous reads are done, and it
// saves the device-wide memory barrier that .release.cluster costs.
TW_DEVICE void mbarrier_arrive_cluster(SharedAddress barrier) {
#if defined(__CUDACC__)
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
#else
  model::mbarrier_arrive_cluster(barrier);
#endif
}

// mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [barrier], bytes;  PTX 8.0, sm_90
TW_DEVICE void mbarrier_arrive_expect_tx(SharedAddress barrier, unsigned bytes) {
#if defined(__CUDACC__)
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
               "r"(bytes)
               : "memory");
#else
  model::mbarrier_arrive_expect_tx(barrier, bytes);
#endif
}

// mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [barrier], parity;  PTX 7.8, sm_90.
// May sleep; false when it woke before the phase completed. Before sm_90 it is test_wait (PTX 7.1),
// which never sleeps.
TW_DEVICE bool mbarrier_try_wait_parity(SharedAddress barrier, unsigned parity) {
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900
#define TW_MBARRIER_WAIT "mbarrier.try_wait"
#else
#define TW_MBARRIER_WAIT "mbarrier.test_wait"
#endif
  unsigned done;
  asm volatile("{\n.reg .pred p;\n" TW_MBARRIER_WAIT
               ".parity.shared::cta.b64 p, [%1], %2;\n"
               "selp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
#undef TW_MBARRIER_WAIT
  return done != 0;
#else
  return model::mbarrier_try_wait_parity(barrier, parity);
#endif
}

// fence.proxy.async.shared::cta;  PTX 8.0, sm_90. Makes this thread's earlier generic writes to
// shared memory visible to the async proxy (TMA, wgmma). Before sm_90 there is no such proxy, and
// it compiles to nothing.
TW_DEVICE void fence_proxy_async() {
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
#else
  model::fence_proxy_async();
#endif
}

}  // namespace tw::isa
