// The same probes against the conversions of CUDA's own headers, compiled for the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include "oracle.h"
#include "probes.h"

namespace tw {
namespace {

// The vendor's functions are fast enough for one in 257 of all float32 patterns.
constexpr std::uint32_t vendor_stride = 257;

// Both functions map a float to a code.
template <class T, class Ours, class Vendor>
void expect_same_codes(Ours&& ours, Vendor&& vendor) {
  probes::Tally tally;
  probes::all(oracle::oracle_of<T>().values(), vendor_stride, [&](float value) {
    tally.compare(value, ours(value), static_cast<std::uint32_t>(vendor(value)));
  });
  EXPECT_EQ(tally.wrong(), 0u) << tally.report();
}

// NaNs may differ in payload.
void expect_same_value(std::uint32_t code, float ours, float vendor) {
  if (std::isnan(vendor)) {
    EXPECT_TRUE(std::isnan(ours)) << "code " << code;
  } else {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(ours), std::bit_cast<std::uint32_t>(vendor))
        << "code " << code;
  }
}

template <class T>
std::uint32_t encoded(float value, Overflow overflow = T::default_overflow,
                      Rounding rounding = Rounding::nearest_even) {
  return T::from_float(value, overflow, rounding).bits;
}

TEST(VendorConversion, Bf16) {
  expect_same_codes<Bf16>([](float x) { return encoded<Bf16>(x); },
                          [](float x) { return __nv_bfloat16_raw(__float2bfloat16_rn(x)).x; });
  expect_same_codes<Bf16>(
      [](float x) { return encoded<Bf16>(x, Overflow::infinity_or_nan, Rounding::toward_zero); },
      [](float x) { return __nv_bfloat16_raw(__float2bfloat16_rz(x)).x; });
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    __nv_bfloat16_raw raw;
    raw.x = static_cast<unsigned short>(code);
    expect_same_value(code, static_cast<float>(Bf16::from_bits(raw.x)),
                      __bfloat162float(__nv_bfloat16(raw)));
  }
}

TEST(VendorConversion, Fp16) {
  expect_same_codes<Fp16>([](float x) { return encoded<Fp16>(x); },
                          [](float x) { return __half_raw(__float2half_rn(x)).x; });
  expect_same_codes<Fp16>(
      [](float x) { return encoded<Fp16>(x, Overflow::infinity_or_nan, Rounding::toward_zero); },
      [](float x) { return __half_raw(__float2half_rz(x)).x; });
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    __half_raw raw;
    raw.x = static_cast<unsigned short>(code);
    expect_same_value(code, static_cast<float>(Fp16::from_bits(raw.x)), __half2float(__half(raw)));
  }
}

template <class T>
void check_fp8(__nv_fp8_interpretation_t kind) {
  expect_same_codes<T>([](float x) { return encoded<T>(x); },
                       [&](float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind); });
  expect_same_codes<T>([](float x) { return encoded<T>(x, Overflow::infinity_or_nan); },
                       [&](float x) { return __nv_cvt_float_to_fp8(x, __NV_NOSAT, kind); });
  for (std::uint32_t code = 0; code < 0x100; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    expect_same_value(code, static_cast<float>(T::from_bits(byte)),
                      __half2float(__half(__nv_cvt_fp8_to_halfraw(byte, kind))));
  }
}

TEST(VendorConversion, Fp8) {
  check_fp8<E4m3>(__NV_E4M3);
  check_fp8<E5m2>(__NV_E5M2);
}

template <class T>
void check_fp6(__nv_fp6_interpretation_t kind) {
  expect_same_codes<T>([](float x) { return encoded<T>(x); },
                       [&](float x) { return __nv_cvt_float_to_fp6(x, kind, cudaRoundNearest); });
  for (std::uint32_t code = 0; code < 0x40; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    expect_same_value(code, static_cast<float>(T::from_bits(byte)),
                      __half2float(__half(__nv_cvt_fp6_to_halfraw(byte, kind))));
  }
}

TEST(VendorConversion, Fp6) {
  check_fp6<E3m2>(__NV_E3M2);
  check_fp6<E2m3>(__NV_E2M3);
}

TEST(VendorConversion, Fp4) {
  expect_same_codes<E2m1>(
      [](float x) { return encoded<E2m1>(x); },
      [](float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); });
  for (std::uint32_t code = 0; code < 0x10; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    expect_same_value(code, static_cast<float>(E2m1::from_bits(byte)),
                      __half2float(__half(__nv_cvt_fp4_to_halfraw(byte, __NV_E2M1))));
  }
}

TEST(VendorConversion, Ue8m0) {
  const struct {
    Overflow ours;
    __nv_saturation_t vendor;
  } overflows[] = {{Overflow::saturate, __NV_SATFINITE}, {Overflow::infinity_or_nan, __NV_NOSAT}};
  for (const auto overflow : overflows) {
    // Bf16 for its probes: it has the binades of float32.
    expect_same_codes<Bf16>(
        [&](float x) { return Ue8m0::round_down(x, overflow.ours).bits; },
        [&](float x) { return __nv_cvt_float_to_e8m0(x, overflow.vendor, cudaRoundZero); });
    expect_same_codes<Bf16>(
        [&](float x) { return Ue8m0::round_up(x, overflow.ours).bits; },
        [&](float x) { return __nv_cvt_float_to_e8m0(x, overflow.vendor, cudaRoundPosInf); });
  }
  for (std::uint32_t code = 0; code < 0x100; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    expect_same_value(code, static_cast<float>(Ue8m0::from_bits(byte)),
                      __bfloat162float(__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(byte))));
  }
}

}  // namespace
}  // namespace tw
