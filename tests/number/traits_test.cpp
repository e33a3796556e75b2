// The traits against the table of formats, and the layout that kernels rely on; all at compile
// time.
#include "tilewright/number/traits.h"

#include <gtest/gtest.h>

#include <string_view>
#include <type_traits>

#include "tilewright/number/convert.h"
#include "tilewright/number/fnuz.h"
#include "tilewright/number/mx.h"
#include "tilewright/number/nvfp4.h"
#include "tilewright/number/packed.h"

namespace tw {
namespace {

template <class T>
concept Plain = Number<T> && std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T> &&
    std::is_trivially_default_constructible_v<T>;

template <class T>
constexpr bool has_traits(std::string_view name, int bits, std::size_t bytes, float max_finite,
                          float min_normal, float min_positive) {
  using Traits = NumberTraits<T>;
  return Plain<T> && Traits::name == name && bits_of<T> == bits && sizeof(T) == bytes &&
         Traits::max_finite == max_finite && Traits::min_normal == min_normal &&
         Traits::min_positive == min_positive && !Traits::is_integer && is_subbyte<T> == (bits < 8);
}

static_assert(has_traits<float>("fp32", 32, 4, 0x1.fffffep127f, 0x1p-126f, 0x1p-149f));
static_assert(has_traits<Tf32>("tf32", 32, 4, 0x1.ffcp127f, 0x1p-126f, 0x1p-136f));
static_assert(has_traits<Bf16>("bf16", 16, 2, 0x1.fep127f, 0x1p-126f, 0x1p-133f));
static_assert(has_traits<Fp16>("fp16", 16, 2, 65504, 0x1p-14f, 0x1p-24f));
static_assert(has_traits<E5m2>("e5m2", 8, 1, 57344, 0x1p-14f, 0x1p-16f));
static_assert(has_traits<E4m3>("e4m3", 8, 1, 448, 0x1p-6f, 0x1p-9f));
static_assert(has_traits<E5m2Fnuz>("e5m2fnuz", 8, 1, 57344, 0x1p-15f, 0x1p-17f));
static_assert(has_traits<E4m3Fnuz>("e4m3fnuz", 8, 1, 240, 0x1p-7f, 0x1p-10f));
static_assert(has_traits<E3m2>("e3m2", 6, 1, 28, 0.25f, 0.0625f));
static_assert(has_traits<E2m3>("e2m3", 6, 1, 7.5f, 1, 0.125f));
static_assert(has_traits<E2m1>("e2m1", 4, 1, 6, 1, 0.5f));
static_assert(has_traits<Ue8m0>("ue8m0", 8, 1, 0x1p127f, 0x1p-127f, 0x1p-127f));
static_assert(has_traits<Ue4m3>("ue4m3", 8, 1, 448, 0x1p-6f, 0x1p-9f));

static_assert(Plain<std::int8_t> && bits_of<std::int8_t> == 8);
static_assert(Plain<std::int32_t> && bits_of<std::int32_t> == 32);
static_assert(NumberTraits<std::int8_t>::max_finite == 127);
static_assert(NumberTraits<std::int32_t>::max_finite == 2147483647);
static_assert(!Number<double> && !Number<void*>);

static_assert(E5m2::format.max_exponent() == 15 && E4m3::format.max_exponent() == 8 &&
              E3m2::format.max_exponent() == 4 && E2m3::format.max_exponent() == 2 &&
              E2m1::format.max_exponent() == 2);

static_assert(packed_bytes<E2m1>(0) == 0 && packed_bytes<E2m1>(3) == 2 &&
              packed_bytes<E3m2>(4) == 3 && packed_bytes<E3m2>(5) == 4 &&
              packed_bytes<Tf32>(3) == 12 && packed_bytes<std::int8_t>(3) == 3);

// Conversions between the types are written out, never silent.
static_assert(!std::is_convertible_v<float, Bf16> && !std::is_convertible_v<Bf16, float>);
static_assert(!std::is_constructible_v<E4m3, E4m3Fnuz>);

// Everything runs in the compiler, too.
static_assert(Bf16(1.0f).bits == 0x3f80 &&
              static_cast<float>(Bf16::from_bits(0x4049)) == 3.140625f);
static_assert(Fp16(1.0f).bits == 0x3c00 && static_cast<float>(Fp16::from_bits(1)) == 0x1p-24f);
static_assert(Tf32(0x1.002p0f).bits == 0x3f80'0000 && Tf32(0x1.006p0f).bits == 0x3f80'4000);
static_assert(Bf16::from_float(0x1.ffp127f).bits == 0x7f80);
static_assert(Bf16::from_float(0x1.ffp127f, Overflow::saturate).bits == 0x7f7f);
static_assert(E4m3(1000.0f).bits == 0x7e && E2m1(5.0f).bits == 0x6 && Ue4m3(-1.0f).bits == 0);
static_assert(E4m3Fnuz(-0.0f).bits == 0 && Ue8m0(5.0f).bits == 0x82);
static_assert(from_float<std::int8_t>(2.5f) == 2 && to_float(std::int32_t{-7}) == -7);
static_assert(from_float<float>(0.1f) == 0.1f && to_float(E2m1::from_bits(0xf)) == -6);

// What CDNA3 multiplies of e4m3: half of every number, whichever neighbours it has in its word.
static_assert([] {
  for (std::uint32_t code = 0; code < 256; ++code) {
    for (const std::uint32_t other : {0x00u, 0x7fu, 0x80u, 0xffu, 0x35u}) {
      for (unsigned place = 0; place < 32; place += 8) {
        const std::uint32_t word = (other * 0x01010101 & ~(0xffu << place)) | code << place;
        const std::uint32_t made = fnuz_of_e4m3(word) >> place & 0xff;
        const float number = to_float(E4m3::from_bits(static_cast<std::uint8_t>(code)));
        const float half = to_float(E4m3Fnuz::from_bits(static_cast<std::uint8_t>(made)));
        if (number != number ? half == half : number != e4m3_over_fnuz * half) return false;
      }
    }
  }
  return true;
}());

static_assert([] {
  // The last element ends with the array: the compiler refuses a touch of the byte behind.
  PackedArray<E3m2, 4> array{};
  array.set(3, E3m2(-28.0f));
  return array.bytes[2] == 0xfc && to_float(array.get(3)) == -28 && array.size() == 4;
}());

static_assert([] {
  const float values[33] = {448, -1, 0.5f};
  E4m3 elements[33];
  Ue8m0 scales[2];
  float back[33];
  quantise_mx<E4m3>(elements, scales, values, MxScale::floor);
  dequantise_mx<E4m3>(back, elements, scales);
  return scales[0].bits == 127 && back[0] == 448 && back[1] == -1 && back[32] == 0;
}());

static_assert([] {
  const float values[17] = {2688, -448};
  E2m1 elements[17];
  Ue4m3 scales[2];
  float back[17];
  const float tensor_scale = nvfp4_tensor_scale(values);
  quantise_nvfp4(elements, scales, values, tensor_scale);
  dequantise_nvfp4(back, elements, scales, tensor_scale);
  return tensor_scale == 1 && back[0] == 2688 && back[1] == -448 && back[16] == 0;
}());

TEST(NumberTraits, AreCheckedAtCompileTime) { SUCCEED(); }

}  // namespace
}  // namespace tw
