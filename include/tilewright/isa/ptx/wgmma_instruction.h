// wgmma m64nNkK by its types and N: one instruction each, in inline assembly.
// wgmma.mma_async.sync.aligned.m64nNkK.f32.T.T (or .s32.s8.s8);  PTX 8.0, sm_90a.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/wgmma_operands.h"
#include "tilewright/number/element_type.h"

namespace tw::isa {

// A and B from shared memory through matrix descriptors.
template <ElementType a, ElementType b, unsigned n>
struct WgmmaInstruction;

// clang-format off
#if defined(__CUDACC__)

// The statement: what follows the sums as text, and as operands.
#define TW_WGMMA_ISSUE(N, NAMES, KIND, BIND, ACCUMULATE, TEXT, ...)                          \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " ACCUMULATE ", 0;\n"                       \
      "wgmma.mma_async.sync.aligned.m64n" #N KIND " {" NAMES "}, " TEXT ";\n}"               \
      : TW_WGMMA_SUMS_##N(BIND) : __VA_ARGS__)

#define TW_WGMMA_SHARED(N, COUNT, A, B, SUM, ...)                                            \
  template <> struct WgmmaInstruction<ElementType::A, ElementType::B, N> {                   \
    template <unsigned a_transposed, unsigned b_transposed>                                  \
    static TW_DEVICE void issue(SUM (&d)[COUNT], std::uint64_t a, std::uint64_t b,           \
                                bool accumulate) {                                           \
      TW_WGMMA_ISSUE(N, __VA_ARGS__);                                                        \
    }                                                                                        \
  };
// Either operand may be transposed.
#define TW_WGMMA_16_BIT(N, COUNT, NAMES, P0, P1, P2, P3, P4, P5, P6, A, KIND)                \
  TW_WGMMA_SHARED(N, COUNT, A, A, float, NAMES, KIND, "+f", P2,                              \
                  P0 ", " P1 ", p, 1, 1, " P3 ", " P4,                                       \
                  "l"(a), "l"(b), "r"(int(accumulate)), "n"(a_transposed), "n"(b_transposed))
#define TW_WGMMA_K_MAJOR(N, COUNT, NAMES, P0, P1, P2, P3, P4, P5, P6, A, B, KIND)            \
  TW_WGMMA_SHARED(N, COUNT, A, B, float, NAMES, KIND, "+f", P2, P0 ", " P1 ", p, 1, 1",      \
                  "l"(a), "l"(b), "r"(int(accumulate)))
#define TW_WGMMA_INTEGER(N, COUNT, NAMES, P0, P1, P2, P3, P4, P5, P6, KIND)                  \
  TW_WGMMA_SHARED(N, COUNT, S8, S8, std::int32_t, NAMES, KIND, "+r", P2, P0 ", " P1 ", p",   \
                  "l"(a), "l"(b), "r"(int(accumulate)))

TW_WGMMA_EVERY_N(TW_WGMMA_16_BIT, Bf16, "k16.f32.bf16.bf16")
TW_WGMMA_COMMON_N(TW_WGMMA_16_BIT, Fp16, "k16.f32.f16.f16")
TW_WGMMA_COMMON_N(TW_WGMMA_K_MAJOR, Tf32, Tf32, "k8.f32.tf32.tf32")
TW_WGMMA_COMMON_N(TW_WGMMA_K_MAJOR, E4m3, E4m3, "k32.f32.e4m3.e4m3")
TW_WGMMA_COMMON_N(TW_WGMMA_K_MAJOR, E4m3, E5m2, "k32.f32.e4m3.e5m2")
TW_WGMMA_COMMON_N(TW_WGMMA_K_MAJOR, E5m2, E4m3, "k32.f32.e5m2.e4m3")
TW_WGMMA_COMMON_N(TW_WGMMA_K_MAJOR, E5m2, E5m2, "k32.f32.e5m2.e5m2")
TW_WGMMA_COMMON_N(TW_WGMMA_INTEGER, "k32.s32.s8.s8")

#endif
// clang-format on

}  // namespace tw::isa
