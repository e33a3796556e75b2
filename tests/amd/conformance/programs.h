// Conformance programs of CDNA: one wave, a few instructions over tw::isa, the same source for the
// GPU and the virtual GPU. golden.py has what they must give, from the vendor's tables.
//
// The input is made of registers as lanes hold them: at 16 l + i register i of lane l of A, 1024
// words behind it B's, at 2048 + l and 2112 + l scales. A program writes the words of a lane side
// by side.
#pragma once

#include "tilewright/isa/amdgcn/mfma.h"
#include "tilewright/isa/amdgcn/mfma_scaled.h"
#include "tilewright/isa/amdgcn/wave_memory.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/isa/threads.h"

namespace tw::conformance {

constexpr unsigned input_words = 2176, most_output_words = 256;

struct Wave {
  const std::uint32_t* input;
  std::uint32_t* output;
};

template <MfmaShape shape>
TW_DEVICE void product(const Wave& wave) {
  const unsigned lane = isa::thread_index();
  std::uint32_t a[shape.registers()], b[shape.registers()];
  TW_UNROLL
  for (unsigned i = 0; i < shape.registers(); ++i) {
    a[i] = wave.input[16 * lane + i];
    b[i] = wave.input[1024 + 16 * lane + i];
  }
  isa::MfmaSum<shape> d[shape.sums()] = {};
  isa::mfma<shape>(d, a, b);
  TW_UNROLL
  for (unsigned i = 0; i < shape.sums(); ++i) {
    wave.output[shape.sums() * lane + i] = __builtin_bit_cast(std::uint32_t, d[i]);
  }
}

template <MfmaType a_type, MfmaType b_type>
TW_DEVICE void scaled_product(const Wave& wave) {
  constexpr MfmaScaledShape shape = {a_type, b_type};
  const unsigned lane = isa::thread_index();
  std::uint32_t a[shape.registers(a_type)], b[shape.registers(b_type)];
  TW_UNROLL
  for (unsigned i = 0; i < shape.registers(a_type); ++i) a[i] = wave.input[16 * lane + i];
  TW_UNROLL
  for (unsigned i = 0; i < shape.registers(b_type); ++i) b[i] = wave.input[1024 + 16 * lane + i];
  float d[shape.sums] = {};
  isa::mfma_scaled<shape>(d, a, b, wave.input[2048 + lane], wave.input[2112 + lane]);
  TW_UNROLL
  for (unsigned i = 0; i < shape.sums; ++i) {
    wave.output[shape.sums * lane + i] = __builtin_bit_cast(std::uint32_t, d[i]);
  }
}

// 16 bytes of each lane go to LDS; then 16 lanes read four lines, in an order of their own.
template <unsigned count>
TW_DEVICE void transposed_read(const Wave& wave) {
  const unsigned lane = isa::thread_index();
  const SharedAddress first = isa::shared_address(isa::dynamic_shared());
  std::uint32_t words[4];
  TW_UNROLL
  for (unsigned i = 0; i < 4; ++i) words[i] = wave.input[4 * lane + i];
  isa::store_shared_16(first + 16 * lane, words);
  isa::s_waitcnt<isa::any_vmcnt, 0>();
  isa::s_barrier();
  std::uint32_t got[count];
  isa::ds_read_b64_tr_b16(got, first + 8 * (lane / 16 * 16 + lane * 5 % 16));
  isa::s_waitcnt<isa::any_vmcnt, 0>();
  TW_UNROLL
  for (unsigned i = 0; i < count; ++i) wave.output[count * lane + i] = got[i];
}

// Lanes load from wherever they like to where their number says; every fifth is out of range, and
// so is what lies behind the resource's end.
template <unsigned bytes>
TW_DEVICE void load_to_lds(const Wave& wave) {
  const unsigned lane = isa::thread_index();
  const SharedAddress first = isa::shared_address(isa::dynamic_shared());
  const BufferResource resource = {wave.input, 50 * bytes + 4};
  isa::buffer_load_lds<bytes>(first, resource, lane % 5 == 0 ? 0x80000000u : bytes * (63 - lane));
  isa::s_waitcnt<0, isa::any_lgkmcnt>();
  isa::s_barrier();
  TW_UNROLL
  for (unsigned i = 0; i < bytes / 4; ++i) {
    const unsigned at = bytes / 4 * (63 - lane) + i;
    wave.output[bytes / 4 * lane + i] = isa::load_shared_4(first + 4 * at);
  }
}

}  // namespace tw::conformance

// TW_PROGRAM(name, body): those of both targets, then each one's.
#define TW_PROGRAMS_COMMON(TW_PROGRAM)                                                           \
  TW_PROGRAM(bf16_16x16x16, (product<MfmaShape{MfmaType::Bf16, MfmaType::Bf16, 16, 16}>))        \
  TW_PROGRAM(f16_16x16x16, (product<MfmaShape{MfmaType::F16, MfmaType::F16, 16, 16}>))           \
  TW_PROGRAM(s8_16x16x32, (product<MfmaShape{MfmaType::S8, MfmaType::S8, 16, 32}>))              \
  TW_PROGRAM(lds_4, (load_to_lds<4>))
#define TW_PROGRAMS_GFX942(TW_PROGRAM) \
  TW_PROGRAM(fnuz_16x16x32, (product<MfmaShape{MfmaType::E4m3Fnuz, MfmaType::E4m3Fnuz, 16, 32}>))
#define TW_PROGRAMS_GFX950(TW_PROGRAM)                                                           \
  TW_PROGRAM(e4m3_16x16x32, (product<MfmaShape{MfmaType::E4m3, MfmaType::E4m3, 16, 32}>))        \
  TW_PROGRAM(bf16_16x16x32, (product<MfmaShape{MfmaType::Bf16, MfmaType::Bf16, 16, 32}>))        \
  TW_PROGRAM(f16_16x16x32, (product<MfmaShape{MfmaType::F16, MfmaType::F16, 16, 32}>))           \
  TW_PROGRAM(e4m3_16x16x128, (product<MfmaShape{MfmaType::E4m3, MfmaType::E4m3, 16, 128}>))      \
  TW_PROGRAM(scaled_e4m3, (scaled_product<MfmaType::E4m3, MfmaType::E4m3>))                      \
  TW_PROGRAM(scaled_e2m3, (scaled_product<MfmaType::E2m3, MfmaType::E2m3>))                      \
  TW_PROGRAM(scaled_e3m2, (scaled_product<MfmaType::E3m2, MfmaType::E3m2>))                      \
  TW_PROGRAM(scaled_e2m1, (scaled_product<MfmaType::E2m1, MfmaType::E2m1>))                      \
  TW_PROGRAM(transposed, (transposed_read<2>))                                                   \
  TW_PROGRAM(lds_16, (load_to_lds<16>))
