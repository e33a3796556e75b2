// tcgen05: products of matrices in shared memory, accumulated in tensor memory. One thread issues
// mma, cp and commit; alloc, dealloc, load, store and the waits are executed by whole warps.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/tensor_memory.h"
#include "tilewright/isa/ptx/tcgen05_access.h"

namespace tw::isa {

// 1: each CTA on its own. 2: the CTAs of a pair (ranks 2i and 2i + 1) work together. All
// instructions of a kernel must say the same.
template <unsigned cta_group>
concept CtaGroup = cta_group == 1 || cta_group == 2;

// tcgen05.alloc.cta_group::G.sync.aligned.shared::cta.b32 [destination], columns;  PTX 8.6,
//     sm_100a. Columns: a power of two from 32 to 512. Writes the TensorAddress to `destination`,
// and blocks while the columns are not free. Group 2: one warp of each CTA of the pair.
template <unsigned cta_group>
requires CtaGroup<cta_group> TW_DEVICE void tcgen05_alloc(SharedAddress destination,
                                                          unsigned columns) {
#if defined(__CUDACC__)
  asm volatile(
      "tcgen05.alloc.cta_group::%2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(destination),
      "r"(columns), "n"(cta_group)
      : "memory");
#else
  model::tcgen05_alloc(destination, columns, cta_group);
#endif
}

// tcgen05.dealloc.cta_group::G.sync.aligned.b32 address, columns;  PTX 8.6, sm_100a
template <unsigned cta_group>
requires CtaGroup<cta_group> TW_DEVICE void tcgen05_dealloc(TensorAddress address,
                                                            unsigned columns) {
#if defined(__CUDACC__)
  asm volatile("tcgen05.dealloc.cta_group::%2.sync.aligned.b32 %0, %1;" ::"r"(address),
               "r"(columns), "n"(cta_group)
               : "memory");
#else
  model::tcgen05_dealloc(address, columns, cta_group);
#endif
}

// tcgen05.relinquish_alloc_permit.cta_group::G.sync.aligned;  PTX 8.6, sm_100a. This CTA will not
// allocate again; the next one on the multiprocessor may.
template <unsigned cta_group>
requires CtaGroup<cta_group> TW_DEVICE void tcgen05_relinquish_alloc_permit() {
#if defined(__CUDACC__)
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" ::"n"(cta_group)
               : "memory");
#else
  model::tcgen05_relinquish_alloc_permit(cta_group);
#endif
}

// tcgen05.mma.cta_group::G.kind::K [d], a, b, instruction, accumulate;  PTX 8.6, sm_100a.
// d = a b + (accumulate ? d : 0). tcgen05_descriptor.h makes a, b and `instruction`. Group 2: each
// CTA holds its half of the rows of a and of the columns of b, at the same addresses, and gets its
// half of d; the even CTA's thread issues for both.
template <MmaKind kind, unsigned cta_group>
requires CtaGroup<cta_group> TW_DEVICE void tcgen05_mma(TensorAddress d, std::uint64_t a,
                                                        std::uint64_t b, std::uint32_t instruction,
                                                        bool accumulate) {
#if defined(__CUDACC__)
#define TW_TCGEN05_MMA(KIND)                                                              \
  asm volatile(                                                                           \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"                                         \
      "tcgen05.mma.cta_group::%5.kind::" KIND " [%0], %1, %2, %3, p;\n}" ::"r"(d),        \
      "l"(a), "l"(b), "r"(instruction), "r"(static_cast<int>(accumulate)), "n"(cta_group) \
      : "memory")
  if constexpr (kind == MmaKind::F16) TW_TCGEN05_MMA("f16");
  if constexpr (kind == MmaKind::Tf32) TW_TCGEN05_MMA("tf32");
  if constexpr (kind == MmaKind::F8F6F4) TW_TCGEN05_MMA("f8f6f4");
  if constexpr (kind == MmaKind::I8) TW_TCGEN05_MMA("i8");
#undef TW_TCGEN05_MMA
#else
  model::tcgen05_mma(kind, cta_group, d, a, b, instruction, accumulate);
#endif
}

// tcgen05.cp.cta_group::G.32x128b.warpx4 [destination], source;  PTX 8.6, sm_100a. 32 rows of 16
// bytes go to 4 columns of lanes 0..31, and again to lanes 32.., 64.. and 96...
// Group 2: in each CTA of the pair, from its own shared memory.
template <unsigned cta_group>
requires CtaGroup<cta_group> TW_DEVICE void tcgen05_cp_32x128b_warpx4(TensorAddress destination,
                                                                      std::uint64_t source) {
#if defined(__CUDACC__)
  asm volatile("tcgen05.cp.cta_group::%2.32x128b.warpx4 [%0], %1;" ::"r"(destination), "l"(source),
               "n"(cta_group)
               : "memory");
#else
  model::tcgen05_cp(TensorCopy::Lanes32Bits128Times4, cta_group, destination, source);
#endif
}

// tcgen05.cp.cta_group::G.128x256b [destination], source;  PTX 8.6, sm_100a. 128 rows of 32 bytes
// go to 8 columns of 128 lanes.
template <unsigned cta_group>
requires CtaGroup<cta_group> TW_DEVICE void tcgen05_cp_128x256b(TensorAddress destination,
                                                                std::uint64_t source) {
#if defined(__CUDACC__)
  asm volatile("tcgen05.cp.cta_group::%2.128x256b [%0], %1;" ::"r"(destination), "l"(source),
               "n"(cta_group)
               : "memory");
#else
  model::tcgen05_cp(TensorCopy::Lanes128Bits256, cta_group, destination, source);
#endif
}

// tcgen05.commit.cta_group::G.mbarrier::arrive::one.shared::cluster.b64 [barrier];  PTX 8.6,
//     sm_100a. Arrives at the barrier once when all mma and cp that this thread has issued are
// done. Says what fence::before_thread_sync says.
template <unsigned cta_group>
requires CtaGroup<cta_group> TW_DEVICE void tcgen05_commit(SharedAddress barrier) {
#if defined(__CUDACC__)
  asm volatile(
      "tcgen05.commit.cta_group::%1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier),
      "n"(cta_group)
      : "memory");
#else
  model::tcgen05_commit(cta_group, barrier, 0);
#endif
}

// The same with .multicast::cluster: arrives at the barrier at the same offset in every CTA whose
// rank is set in `mask`.
template <unsigned cta_group>
requires CtaGroup<cta_group> TW_DEVICE void tcgen05_commit_multicast(SharedAddress barrier,
                                                                     std::uint16_t mask) {
#if defined(__CUDACC__)
  asm volatile(
      "tcgen05.commit.cta_group::%2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
      "[%0], %1;" ::"r"(barrier),
      "h"(mask), "n"(cta_group)
      : "memory");
#else
  model::tcgen05_commit(cta_group, barrier, mask);
#endif
}

// tcgen05.fence::before_thread_sync;  PTX 8.6, sm_100a. What this thread did to tensor memory comes
// before the barriers at which it arrives from here on.
TW_DEVICE void tcgen05_fence_before_thread_sync() {
#if defined(__CUDACC__)
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
#else
  model::tcgen05_fence_before_thread_sync();
#endif
}

// tcgen05.fence::after_thread_sync;  PTX 8.6, sm_100a. What this thread does to tensor memory from
// here on comes after the barriers that it has waited for.
TW_DEVICE void tcgen05_fence_after_thread_sync() {
#if defined(__CUDACC__)
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#else
  model::tcgen05_fence_after_thread_sync();
#endif
}

// tcgen05.wait::ld.sync.aligned;  PTX 8.6, sm_100a. All loads of this thread are done.
TW_DEVICE void tcgen05_wait_load() {
#if defined(__CUDACC__)
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#else
  model::tcgen05_wait_load();
#endif
}

// tcgen05.wait::st.sync.aligned;  PTX 8.6, sm_100a. All stores of this thread are done.
TW_DEVICE void tcgen05_wait_store() {
#if defined(__CUDACC__)
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
#else
  model::tcgen05_wait_store();
#endif
}

}  // namespace tw::isa
