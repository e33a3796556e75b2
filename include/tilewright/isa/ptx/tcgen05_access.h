// tcgen05.ld and tcgen05.st .sync.aligned.32x32b.xN.b32;  PTX 8.6, sm_100a.
// Lane t of warp w moves N columns of lane 32 (w % 4) + t of tensor memory. The address names the
// first column and lane 32 (w % 4), the same in all lanes of the warp. Registers of a load may be
// read, and tensor memory may be handed on, only after tcgen05.wait.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/tensor_memory.h"
#include "tilewright/isa/ptx/tcgen05_operands.h"

namespace tw::isa {

template <unsigned count>
concept TensorAccessCount = count >= 1 && count <= 128 && (count & (count - 1)) == 0;

#if defined(__CUDACC__)
template <unsigned count>
TW_DEVICE void tcgen05_load(std::uint32_t (&values)[count], TensorAddress source) = delete;
template <unsigned count>
TW_DEVICE void tcgen05_store(TensorAddress destination,
                             const std::uint32_t (&values)[count]) = delete;

// clang-format off
#define TW_TCGEN05_ACCESS(N, LOADED, SOURCE, STORED)                                              \
  template <> TW_DEVICE void tcgen05_load<N>(std::uint32_t (&values)[N], TensorAddress source) {  \
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x" #N ".b32 " LOADED ", [" SOURCE "];"           \
        : TW_TCGEN05_VALUES_##N("=r") : "r"(source));                                             \
  }                                                                                               \
  template <> TW_DEVICE void tcgen05_store<N>(TensorAddress destination,                          \
                                              const std::uint32_t (&values)[N]) {                 \
    asm volatile("tcgen05.st.sync.aligned.32x32b.x" #N ".b32 [%0], " STORED ";"                   \
        :: "r"(destination), TW_TCGEN05_VALUES_##N("r"));                                         \
  }
TW_TCGEN05_EACH(TW_TCGEN05_ACCESS)
#undef TW_TCGEN05_ACCESS
// clang-format on
#else
template <unsigned count>
  requires TensorAccessCount<count>
inline void tcgen05_load(std::uint32_t (&values)[count], TensorAddress source) {
  model::tcgen05_load(values, count, source);
}
template <unsigned count>
  requires TensorAccessCount<count>
inline void tcgen05_store(TensorAddress destination, const std::uint32_t (&values)[count]) {
  model::tcgen05_store(destination, values, count);
}
#endif

}  // namespace tw::isa
