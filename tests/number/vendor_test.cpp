// The same probes against the conversions of CUDA's own headers, compiled for the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <random>

#include "oracle.h"
#include "probes.h"
#include "tilewright/number/mx.h"
#include "tilewright/number/nvfp4.h"

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

// Whole blocks of quantisers. A block's magnitudes are of a few binades below a random one; every
// other block has an amax at or next to a number at which its scale changes.
template <std::size_t count>
void fill_block(float (&values)[count], float max, int lowest, int highest, std::mt19937& random) {
  std::uniform_real_distribution<float> mantissa(1.0f, 2.0f);
  const auto within = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  const int exponent = within(lowest, highest);
  for (float& value : values) {
    value = std::ldexp(mantissa(random), exponent - within(0, 6)) * (random() % 2 == 0 ? 1 : -1);
  }
  if (random() % 2 != 0) return;
  const float edge = std::ldexp(random() % 2 == 0 ? max : 1.0f, exponent + 1);
  values[random() % count] = std::nextafter(edge, random() % 3 == 0 ? 0.0f : 2 * edge);
  if (random() % 3 == 0) values[random() % count] = edge;
}

// The vendor's own functions make the scale from amax / max rounded up, or from 2^(log2 amax -
// emax) rounded down, and each element from its value over the scale.
template <class T, class Vendor>
void check_mx_blocks(const Vendor& vendor) {
  constexpr float max = NumberTraits<T>::max_finite;
  constexpr int max_exponent = T::format.max_exponent();
  std::mt19937 random(17);
  for (int round = 0; round < 40000; ++round) {
    const MxScale rule = round % 2 == 0 ? MxScale::rceil : MxScale::floor;
    float values[mx_block];
    fill_block(values, max, -100, 90, random);
    T elements[mx_block];
    const Ue8m0 scale = quantise_mx_block<T>(elements, values, rule);
    const float amax = absolute_maximum(values);
    const auto expected = rule == MxScale::rceil
                              ? __nv_cvt_float_to_e8m0(amax / max, __NV_SATFINITE, cudaRoundPosInf)
                              : __nv_cvt_float_to_e8m0(std::ldexp(amax, -max_exponent),
                                                       __NV_SATFINITE, cudaRoundZero);
    ASSERT_EQ(scale.bits, expected) << "amax " << amax << ", round " << round;
    for (std::size_t i = 0; i < mx_block; ++i) {
      const float scaled = std::ldexp(values[i], 127 - int{expected});
      ASSERT_EQ(elements[i].bits, vendor(scaled)) << values[i] << ", round " << round;
    }
  }
}
TEST(VendorConversion, BlocksOfMx) {
  check_mx_blocks<E4m3>(
      [](float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); });
  check_mx_blocks<E5m2>(
      [](float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); });
  check_mx_blocks<E2m3>(
      [](float x) { return __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest); });
  check_mx_blocks<E3m2>(
      [](float x) { return __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest); });
  check_mx_blocks<E2m1>(
      [](float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); });
}

TEST(VendorConversion, BlocksOfNvfp4) {
  std::mt19937 random(18);
  for (int round = 0; round < 40000; ++round) {
    float values[nvfp4_block];
    fill_block(values, 6.0f, -20, 20, random);
    const float tensor_scale = std::ldexp(1.0f + static_cast<float>(random() % 64) / 64, 8);
    E2m1 elements[nvfp4_block];
    const Ue4m3 scale = quantise_nvfp4_block(elements, values, tensor_scale);
    const float wanted = std::max(absolute_maximum(values) / 6.0f / tensor_scale, 0x1p-6f);
    const auto expected = __nv_cvt_float_to_fp8(wanted, __NV_SATFINITE, __NV_E4M3);
    ASSERT_EQ(scale.bits, expected) << "round " << round;
    const float block_scale = __half2float(__half(__nv_cvt_fp8_to_halfraw(expected, __NV_E4M3)));
    for (std::size_t i = 0; i < nvfp4_block; ++i) {
      const float scaled = values[i] * (1.0f / tensor_scale / block_scale);
      ASSERT_EQ(elements[i].bits, __nv_cvt_float_to_fp4(scaled, __NV_E2M1, cudaRoundNearest))
          << values[i] << ", round " << round;
    }
  }
}

}  // namespace
}  // namespace tw
