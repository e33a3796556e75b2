// Bulk tensor copies (TMA) of rank 1 to 5 into shared memory. Stores: isa/ptx/tma_store.h.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

// The L2's treatment of a line: the 64-bit policies that createpolicy.fractional gives for 1.0.
enum class CacheHint : std::uint64_t {
  EvictNormal = 0x1000000000000000,
  EvictFirst = 0x12F0000000000000,
  EvictLast = 0x14F0000000000000,
};

// prefetch.tensormap [map];  PTX 8.0, sm_90
TW_DEVICE void prefetch_tensormap(const TensorMap* map) {
#if defined(__CUDACC__)
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#else
  model::tma_prefetch_map(map);
#endif
}

// cp.async.bulk.tensor.Rd.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint
//     [destination], [map, {coordinates}], [barrier], hint;  PTX 8.0, sm_90
// Coordinate 0 is the innermost dimension. Bytes outside the tensor arrive as zeros and count.
template <unsigned rank>
TW_DEVICE void cp_async_bulk_tensor_load(SharedAddress destination, const TensorMap* map,
                                         CopySignal barrier, const int (&at)[rank],
                                         CacheHint hint) {
  static_assert(rank >= 1 && rank <= 5, "TMA copies tensors of rank 1 to 5.");
#if defined(__CUDACC__)
#define TW_TMA_LOAD(R, COORDINATES, ...)                                                          \
  asm volatile("cp.async.bulk.tensor." R                                                          \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], " \
               "[%1, {" COORDINATES "}], [%2], %3;" ::"r"(destination),                           \
               "l"(map), "r"(barrier.in_copy()), "l"(hint), __VA_ARGS__                           \
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
  model::tma_load(destination, map, barrier.in_copy(), at, rank, 0);
#endif
}

// The same with .multicast::cluster: the box lands at the same offset in every CTA of `mask`, and
// each of them gets the bytes counted on its own barrier at the same offset.
template <unsigned rank>
TW_DEVICE void cp_async_bulk_tensor_load_multicast(SharedAddress destination, const TensorMap* map,
                                                   CopySignal barrier, const int (&at)[rank],
                                                   std::uint16_t mask, CacheHint hint) {
  static_assert(rank >= 1 && rank <= 5, "TMA copies tensors of rank 1 to 5.");
#if defined(__CUDACC__)
#define TW_TMA_LOAD(R, COORDINATES, ...)                                                          \
  asm volatile("cp.async.bulk.tensor." R                                                          \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"    \
               ".L2::cache_hint [%0], [%1, {" COORDINATES "}], [%2], %3, %4;" ::"r"(destination), \
               "l"(map), "r"(barrier.in_copy()), "h"(mask), "l"(hint), __VA_ARGS__                \
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
  model::tma_load(destination, map, barrier.in_copy(), at, rank, mask);
#endif
}

}  // namespace tw::isa
