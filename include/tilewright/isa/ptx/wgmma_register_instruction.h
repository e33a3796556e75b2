// wgmma m64nNkK with A from registers, by its type and N: one instruction each, in inline assembly.
// wgmma.mma_async.sync.aligned.m64nNkK.f32.T.T;  PTX 8.0, sm_90a.
#pragma once

#include "tilewright/isa/ptx/wgmma_instruction.h"

namespace tw::isa {

// A from registers: 16 bytes of a thread; B from shared memory.
template <ElementType type, unsigned n>
struct WgmmaRegisterInstruction;

// clang-format off
#if defined(__CUDACC__)

#define TW_WGMMA_REGISTER(N, COUNT, TYPE, NAMES, KIND, ACCUMULATE, TEXT, ...)                \
  template <> struct WgmmaRegisterInstruction<ElementType::TYPE, N> {                        \
    template <unsigned b_transposed>                                                         \
    static TW_DEVICE void issue(float (&d)[COUNT], const std::uint32_t (&a)[4],              \
                                std::uint64_t b, bool accumulate) {                          \
      TW_WGMMA_ISSUE(N, NAMES, KIND, "+f", ACCUMULATE, TEXT,                                 \
                     "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), __VA_ARGS__);               \
    }                                                                                        \
  };
// B may be transposed.
#define TW_WGMMA_REGISTER_16_BIT(N, COUNT, NAMES, P0, P1, P2, P3, P4, P5, P6, TYPE, KIND)    \
  TW_WGMMA_REGISTER(N, COUNT, TYPE, NAMES, KIND, P5,                                         \
                    "{" P0 ", " P1 ", " P2 ", " P3 "}, " P4 ", p, 1, 1, " P6,                \
                    "l"(b), "r"(int(accumulate)), "n"(b_transposed))
#define TW_WGMMA_REGISTER_K_MAJOR(N, COUNT, NAMES, P0, P1, P2, P3, P4, P5, P6, TYPE, KIND)   \
  TW_WGMMA_REGISTER(N, COUNT, TYPE, NAMES, KIND, P5,                                         \
                    "{" P0 ", " P1 ", " P2 ", " P3 "}, " P4 ", p, 1, 1",                     \
                    "l"(b), "r"(int(accumulate)))

TW_WGMMA_EVERY_N(TW_WGMMA_REGISTER_16_BIT, Bf16, "k16.f32.bf16.bf16")
TW_WGMMA_COMMON_N(TW_WGMMA_REGISTER_16_BIT, Fp16, "k16.f32.f16.f16")
TW_WGMMA_COMMON_N(TW_WGMMA_REGISTER_K_MAJOR, E4m3, "k32.f32.e4m3.e4m3")

#endif
// clang-format on

}  // namespace tw::isa
