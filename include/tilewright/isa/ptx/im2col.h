// Bulk tensor copies (TMA) of columns of pixels, as a convolution reads them: im2col.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/tma.h"

namespace tw::isa {

// cp.async.bulk.tensor.Rd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
//     .L2::cache_hint [destination], [map, {c, w, h, n}], [barrier], {offset_w, offset_h}, hint;
//     PTX 8.0, sm_90; of rank 5 {c, w, h, depth, n} and three offsets
// The first pixel (w, h, n) is where the filter begins there, the offsets are the filter's
// position. Pixels outside the tensor arrive as zeros and count.
template <unsigned rank>
TW_DEVICE void cp_async_bulk_tensor_load_im2col(SharedAddress destination, const TensorMap* map,
                                                CopySignal barrier, const int (&at)[rank],
                                                const std::uint16_t (&offsets)[rank - 2],
                                                CacheHint hint) {
  static_assert(rank == 4 || rank == 5, "Images have two or three sides.");
#if defined(__CUDACC__)
#define TW_TMA_LOAD(R, COORDINATES, OFFSETS, ...)                                             \
  asm volatile("cp.async.bulk.tensor." R                                                      \
               "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint " \
               "[%0], [%1, {" COORDINATES "}], [%2], {" OFFSETS "}, %3;" ::"r"(destination),  \
               "l"(map), "r"(barrier.in_copy()), "l"(hint), __VA_ARGS__                       \
               : "memory")
  if constexpr (rank == 4)
    TW_TMA_LOAD("4", "%4, %5, %6, %7", "%8, %9", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
                "h"(offsets[0]), "h"(offsets[1]));
  if constexpr (rank == 5)
    TW_TMA_LOAD("5", "%4, %5, %6, %7, %8", "%9, %10, %11", "r"(at[0]), "r"(at[1]), "r"(at[2]),
                "r"(at[3]), "r"(at[4]), "h"(offsets[0]), "h"(offsets[1]), "h"(offsets[2]));
#undef TW_TMA_LOAD
#else
  (void)hint;
  model::tma_load_im2col(destination, map, barrier.in_copy(), at, offsets, rank, 0);
#endif
}

// The same with .multicast::cluster and the mask behind the offsets: to the same offset in every
// CTA of `mask`, signalling the barrier at the same offset there.
template <unsigned rank>
TW_DEVICE void cp_async_bulk_tensor_load_im2col_multicast(SharedAddress destination,
                                                          const TensorMap* map, CopySignal barrier,
                                                          const int (&at)[rank],
                                                          const std::uint16_t (&offsets)[rank - 2],
                                                          std::uint16_t mask, CacheHint hint) {
  static_assert(rank == 4 || rank == 5, "Images have two or three sides.");
#if defined(__CUDACC__)
#define TW_TMA_LOAD(R, COORDINATES, OFFSETS, ...)                                                \
  asm volatile("cp.async.bulk.tensor." R                                                         \
               "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster" \
               ".L2::cache_hint [%0], [%1, {" COORDINATES "}], [%2], {" OFFSETS                  \
               "}, %3, %4;" ::"r"(destination),                                                  \
               "l"(map), "r"(barrier.in_copy()), "h"(mask), "l"(hint), __VA_ARGS__               \
               : "memory")
  if constexpr (rank == 4)
    TW_TMA_LOAD("4", "%5, %6, %7, %8", "%9, %10", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
                "h"(offsets[0]), "h"(offsets[1]));
  if constexpr (rank == 5)
    TW_TMA_LOAD("5", "%5, %6, %7, %8, %9", "%10, %11, %12", "r"(at[0]), "r"(at[1]), "r"(at[2]),
                "r"(at[3]), "r"(at[4]), "h"(offsets[0]), "h"(offsets[1]), "h"(offsets[2]));
#undef TW_TMA_LOAD
#else
  (void)hint;
  model::tma_load_im2col(destination, map, barrier.in_copy(), at, offsets, rank, mask);
#endif
}

}  // namespace tw::isa
