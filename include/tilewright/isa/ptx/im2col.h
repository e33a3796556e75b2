// Bulk tensor copies (TMA) of columns of pixels, as a convolution reads them: im2col.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/tma.h"

namespace tw::isa {

// cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
//     .L2::cache_hint [destination], [map, {c, w, h, n}], [barrier], {offset_w, offset_h}, hint;
//     PTX 8.0, sm_90
// The first pixel (w, h, n) is where the filter begins there, the offsets are the filter's
// position. Pixels outside the tensor arrive as zeros and count.
TW_DEVICE void cp_async_bulk_tensor_load_im2col(SharedAddress destination, const TensorMap* map,
                                                SharedAddress barrier, const int (&at)[4],
                                                const std::uint16_t (&offsets)[2], CacheHint hint) {
#if defined(__CUDACC__)
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], {%8, %9}, %3;" ::"r"(destination),
      "l"(map), "r"(barrier), "l"(hint), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
      "h"(offsets[0]), "h"(offsets[1])
      : "memory");
#else
  (void)hint;
  model::tma_load_im2col(destination, map, barrier, at, offsets, 4, 0);
#endif
}

// The same with .multicast::cluster and the mask behind the offsets: to the same offset in every
// CTA of `mask`, signalling the barrier at the same offset there.
TW_DEVICE void cp_async_bulk_tensor_load_im2col_multicast(SharedAddress destination,
                                                          const TensorMap* map,
                                                          SharedAddress barrier, const int (&at)[4],
                                                          const std::uint16_t (&offsets)[2],
                                                          std::uint16_t mask, CacheHint hint) {
#if defined(__CUDACC__)
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%5, %6, %7, %8}], [%2], {%9, %10}, %3, "
      "%4;" ::"r"(destination),
      "l"(map), "r"(barrier), "h"(mask), "l"(hint), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
      "h"(offsets[0]), "h"(offsets[1])
      : "memory");
#else
  (void)hint;
  model::tma_load_im2col(destination, map, barrier, at, offsets, 4, mask);
#endif
}

}  // namespace tw::isa
