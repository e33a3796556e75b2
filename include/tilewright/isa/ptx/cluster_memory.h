// The shared memory of the other CTAs of a cluster: addresses come from mapa. All of it needs
// sm_90.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/shared_memory.h"

namespace tw::isa {

// ld.shared::cluster.b32 d, [mapped];  PTX 7.8, sm_90
TW_DEVICE std::uint32_t load_cluster(SharedAddress mapped) {
  std::uint32_t word;
#if defined(__CUDACC__)
  asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(word) : "r"(mapped) : "memory");
#else
  model::load_cluster(&word, mapped, 4);
#endif
  return word;
}

// ld.shared::cluster.v4.b32 {w0,w1,w2,w3}, [mapped];  PTX 7.8, sm_90
TW_DEVICE void load_cluster(std::uint32_t (&words)[4], SharedAddress mapped) {
#if defined(__CUDACC__)
  asm volatile("ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(mapped)
               : "memory");
#else
  model::load_cluster(words, mapped, 16);
#endif
}

// st.shared::cluster.b32 [mapped], word;  PTX 7.8, sm_90
TW_DEVICE void store_cluster(SharedAddress mapped, std::uint32_t word) {
#if defined(__CUDACC__)
  asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(mapped), "r"(word) : "memory");
#else
  model::store_cluster(mapped, &word, 4);
#endif
}

// st.shared::cluster.v4.b32 [mapped], {w0,w1,w2,w3};  PTX 7.8, sm_90
TW_DEVICE void store_cluster(SharedAddress mapped, const std::uint32_t (&words)[4]) {
#if defined(__CUDACC__)
  asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(mapped), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
#else
  model::store_cluster(mapped, words, 16);
#endif
}

// st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [mapped], word, [mapped_barrier];
//     PTX 8.1, sm_90. Barrier and destination lie in the same CTA; the barrier counts 4 bytes.
TW_DEVICE void st_async(SharedAddress mapped, std::uint32_t word, SharedAddress mapped_barrier) {
#if defined(__CUDACC__)
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(mapped),
      "r"(word), "r"(mapped_barrier)
      : "memory");
#else
  model::store_async(mapped, &word, 4, mapped_barrier);
#endif
}

// The same with .v4.b32: 16 bytes.
TW_DEVICE void st_async(SharedAddress mapped, const std::uint32_t (&words)[4],
                        SharedAddress mapped_barrier) {
#if defined(__CUDACC__)
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(mapped),
      "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(mapped_barrier)
      : "memory");
#else
  model::store_async(mapped, words, 16, mapped_barrier);
#endif
}

// barrier.cluster.arrive.release.aligned;  PTX 8.0, sm_90. Publishes this thread's accesses to all
// that come out of cluster_wait.
TW_DEVICE void cluster_arrive_release() {
#if defined(__CUDACC__)
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#else
  model::cluster_arrive_release();
#endif
}

// mbarrier.arrive.release.cluster.shared::cluster.b64 _, [mapped];  PTX 8.0, sm_90. Publishes this
// thread's accesses to who waits with mbarrier_try_wait_parity_cluster.
TW_DEVICE void mbarrier_arrive_release_cluster(SharedAddress mapped) {
#if defined(__CUDACC__)
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapped)
               : "memory");
#else
  model::mbarrier_arrive_release_cluster(mapped);
#endif
}

// mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [barrier], parity;  PTX 8.0, sm_90.
// May sleep; false when it woke before the phase completed.
TW_DEVICE bool mbarrier_try_wait_parity_cluster(SharedAddress barrier, unsigned parity) {
#if defined(__CUDACC__)
  unsigned done;
  asm volatile(
      "{\n.reg .pred p;\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
#else
  return model::mbarrier_try_wait_parity_cluster(barrier, parity);
#endif
}

}  // namespace tw::isa
