// Bulk tensor stores (TMA) of rank 1 to 5, and the bulk groups that track them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

// cp.async.bulk.tensor.Rd.global.shared::cta.tile.bulk_group [map, {coordinates}], [source];
//     PTX 8.0, sm_90. Bytes outside the tensor are not written.
template <unsigned rank>
TW_DEVICE void cp_async_bulk_tensor_store(const TensorMap* map, SharedAddress source,
                                          const int (&at)[rank]) {
  static_assert(rank >= 1 && rank <= 5, "TMA copies tensors of rank 1 to 5.");
#if defined(__CUDACC__)
#define TW_TMA_STORE(R, COORDINATES, ...)                                                          \
  asm volatile("cp.async.bulk.tensor." R "d.global.shared::cta.tile.bulk_group [%0, {" COORDINATES \
               "}], [%1];" ::"l"(map),                                                             \
               "r"(source), __VA_ARGS__                                                            \
               : "memory")
  if constexpr (rank == 1) TW_TMA_STORE("1", "%2", "r"(at[0]));
  if constexpr (rank == 2) TW_TMA_STORE("2", "%2, %3", "r"(at[0]), "r"(at[1]));
  if constexpr (rank == 3) TW_TMA_STORE("3", "%2, %3, %4", "r"(at[0]), "r"(at[1]), "r"(at[2]));
  if constexpr (rank == 4)
    TW_TMA_STORE("4", "%2, %3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  if constexpr (rank == 5)
    TW_TMA_STORE("5", "%2, %3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
                 "r"(at[4]));
#undef TW_TMA_STORE
#else
  model::tma_store(map, source, at, rank);
#endif
}

// cp.async.bulk.commit_group;  PTX 8.0, sm_90
TW_DEVICE void cp_async_bulk_commit_group() {
#if defined(__CUDACC__)
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
  model::bulk_commit_group();
#endif
}

// cp.async.bulk.wait_group.read n;  PTX 8.0, sm_90. All but the n latest groups have read their
// source.
template <unsigned pending>
TW_DEVICE void cp_async_bulk_wait_group_read() {
#if defined(__CUDACC__)
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
#else
  model::bulk_wait_group_read(pending);
#endif
}

}  // namespace tw::isa
