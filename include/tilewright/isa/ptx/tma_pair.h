// TMA loads for the two CTAs of a pair that multiply together: each loads its half of the operands,
// and both announce them on one barrier, the leader's. The leader is the CTA of even rank.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/tensor_memory.h"
#include "tilewright/isa/ptx/tma.h"

namespace tw::isa {

// The barrier at the same offset in the leader's shared memory. Bit 24 of a window address is the
// lowest bit of the CTA's rank; it is clear in the leader's.
TW_DEVICE SharedAddress leader_barrier(SharedAddress barrier) { return barrier & 0xFEFFFFFFu; }

// cp.async.bulk.tensor.Rd.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2
//     .L2::cache_hint [destination], [map, {coordinates}], [barrier], hint;  PTX 8.6, sm_100a.
// As cp_async_bulk_tensor_load, but the barrier may lie in the peer of the destination's CTA.
template <unsigned rank>
TW_DEVICE void cp_async_bulk_tensor_load_pair(SharedAddress destination, const TensorMap* map,
                                              CopySignal barrier, const int (&at)[rank],
                                              CacheHint hint) {
  static_assert(rank >= 1 && rank <= 5, "TMA copies tensors of rank 1 to 5.");
#if defined(__CUDACC__)
#define TW_TMA_LOAD(R, COORDINATES, ...)                                                      \
  asm volatile("cp.async.bulk.tensor." R                                                      \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2"      \
               ".L2::cache_hint [%0], [%1, {" COORDINATES "}], [%2], %3;" ::"r"(destination), \
               "l"(map), "r"(barrier.in_copy()), "l"(hint), __VA_ARGS__                       \
               : "memory")
  if constexpr (rank == 1) TW_TMA_LOAD("1", "%4", "r"(at[0]));
  if constexpr (rank == 2) TW_TMA_LOAD("2", "%4, %5", "r"(at[0]), "r"(at[1]));
  if constexpr (rank == 3) TW_TMA_LOAD("3", "%4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]));
  if constexpr (rank == 4)
    TW_TMA_LOAD("4", "%4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  if constexpr (rank == 5)
    TW_TMA_LOAD("5", "%4, %5, %6, %7, %8", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
                "r"(at[4]));
#undef TW_TMA_LOAD
#else
  (void)hint;
  model::tma_load_pair(destination, map, barrier.in_copy(), at, rank, 0);
#endif
}

// The same with .multicast::cluster. For every CTA in `mask`, the bytes are counted in that CTA or
// its peer: in the one whose rank is as even or odd as the rank of the CTA that `barrier` lies in.
template <unsigned rank>
TW_DEVICE void cp_async_bulk_tensor_load_pair_multicast(SharedAddress destination,
                                                        const TensorMap* map, CopySignal barrier,
                                                        const int (&at)[rank], std::uint16_t mask,
                                                        CacheHint hint) {
  static_assert(rank >= 1 && rank <= 5, "TMA copies tensors of rank 1 to 5.");
#if defined(__CUDACC__)
#define TW_TMA_LOAD(R, COORDINATES, ...)                                                       \
  asm volatile("cp.async.bulk.tensor." R                                                       \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster" \
               ".cta_group::2.L2::cache_hint [%0], [%1, {" COORDINATES                         \
               "}], [%2], %3, %4;" ::"r"(destination),                                         \
               "l"(map), "r"(barrier.in_copy()), "h"(mask), "l"(hint), __VA_ARGS__             \
               : "memory")
  if constexpr (rank == 1) TW_TMA_LOAD("1", "%5", "r"(at[0]));
  if constexpr (rank == 2) TW_TMA_LOAD("2", "%5, %6", "r"(at[0]), "r"(at[1]));
  if constexpr (rank == 3) TW_TMA_LOAD("3", "%5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]));
  if constexpr (rank == 4)
    TW_TMA_LOAD("4", "%5, %6, %7, %8", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  if constexpr (rank == 5)
    TW_TMA_LOAD("5", "%5, %6, %7, %8, %9", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
                "r"(at[4]));
#undef TW_TMA_LOAD
#else
  (void)hint;
  model::tma_load_pair(destination, map, barrier.in_copy(), at, rank, mask);
#endif
}

}  // namespace tw::isa
