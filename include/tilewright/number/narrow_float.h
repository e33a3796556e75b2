// The narrow floating-point types. Each holds its code in `bits`, is as large as its storage, and
// converts explicitly from and to float.
#pragma once

#include "tilewright/number/float_code.h"

namespace tw {

struct Bf16 : NarrowFloat<Bf16, std::uint16_t, bf16_format> {
  static constexpr const char* name = "bf16";
  using NarrowFloat::NarrowFloat;
};

struct Fp16 : NarrowFloat<Fp16, std::uint16_t, fp16_format> {
  static constexpr const char* name = "fp16";
  using NarrowFloat::NarrowFloat;
};

// The tensor cores read the upper 19 bits, so a float32 in memory may be read as Tf32: the other
// bits count as zero. Conversions leave them zero.
struct Tf32 : NarrowFloat<Tf32, std::uint32_t, tf32_format> {
  static constexpr const char* name = "tf32";
  using NarrowFloat::NarrowFloat;
};

struct E5m2 : NarrowFloat<E5m2, std::uint8_t, e5m2_format> {
  static constexpr const char* name = "e5m2";
  using NarrowFloat::NarrowFloat;
};

struct E4m3 : NarrowFloat<E4m3, std::uint8_t, e4m3_format> {
  static constexpr const char* name = "e4m3";
  using NarrowFloat::NarrowFloat;
};

struct E5m2Fnuz : NarrowFloat<E5m2Fnuz, std::uint8_t, e5m2fnuz_format> {
  static constexpr const char* name = "e5m2fnuz";
  using NarrowFloat::NarrowFloat;
};

struct E4m3Fnuz : NarrowFloat<E4m3Fnuz, std::uint8_t, e4m3fnuz_format> {
  static constexpr const char* name = "e4m3fnuz";
  using NarrowFloat::NarrowFloat;
};

// Unpacked: one code a byte. packed.h holds several codes a byte.
struct E3m2 : NarrowFloat<E3m2, std::uint8_t, e3m2_format> {
  static constexpr const char* name = "e3m2";
  using NarrowFloat::NarrowFloat;
};

struct E2m3 : NarrowFloat<E2m3, std::uint8_t, e2m3_format> {
  static constexpr const char* name = "e2m3";
  using NarrowFloat::NarrowFloat;
};

struct E2m1 : NarrowFloat<E2m1, std::uint8_t, e2m1_format> {
  static constexpr const char* name = "e2m1";
  using NarrowFloat::NarrowFloat;
};

// The block scale of NVFP4. Negative values become zero, which is the nearest number.
struct Ue4m3 : NarrowFloat<Ue4m3, std::uint8_t, ue4m3_format> {
  static constexpr const char* name = "ue4m3";
  using NarrowFloat::NarrowFloat;
};

}  // namespace tw
