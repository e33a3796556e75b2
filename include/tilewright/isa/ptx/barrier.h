// Barriers: named (bar), cluster (barrier.cluster) and memory barriers with phases (mbarrier).
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

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
