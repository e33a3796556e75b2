// Every code decoded, and every rounding decision taken, against the table oracle.
#include <gtest/gtest.h>

#include "oracle.h"
#include "probes.h"
#include "tilewright/number/convert.h"

namespace tw {
namespace {

using oracle::oracle_of;

template <class T>
class Conversion : public testing::Test {
 public:
  static std::uint32_t code_of(T value) { return value.bits >> T::unread_bits; }
  static T from_code(std::uint32_t code) {
    return T::from_bits(static_cast<decltype(T::bits)>(code << T::unread_bits));
  }
  static std::uint32_t num_codes() {
    const std::uint32_t sign = oracle_of<T>().spec().sign;
    return sign != 0 ? 2 * sign : 0x80;
  }
};

struct TypeName {
  template <class T>
  static std::string GetName(int) {
    return T::name;
  }
};

using NarrowTypes =
    testing::Types<Tf32, Bf16, Fp16, E5m2, E4m3, Ue4m3, E5m2Fnuz, E4m3Fnuz, E3m2, E2m3, E2m1>;
TYPED_TEST_SUITE(Conversion, NarrowTypes, TypeName);

TYPED_TEST(Conversion, DecodesEveryCode) {
  for (std::uint32_t code = 0; code < this->num_codes(); ++code) {
    const double expected = oracle_of<TypeParam>().decode(code);
    const float got = static_cast<float>(this->from_code(code));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << "code " << code << " gave " << got;
    } else {
      ASSERT_EQ(got, expected) << "code " << code;
      ASSERT_EQ(std::signbit(got), std::signbit(expected)) << "code " << code;
    }
  }
}

TYPED_TEST(Conversion, EncodesEveryDecodedCodeBack) {
  for (std::uint32_t code = 0; code < this->num_codes(); ++code) {
    const float value = static_cast<float>(this->from_code(code));
    const auto back = TypeParam::from_float(value, Overflow::infinity_or_nan);
    const std::uint32_t nan = oracle_of<TypeParam>().spec().nan;
    ASSERT_EQ(this->code_of(back), std::isnan(value) ? nan : code) << "code " << code;
  }
}

TYPED_TEST(Conversion, RoundsLikeTheOracle) {
  const auto& oracle = oracle_of<TypeParam>();
  for (const Rounding rounding :
       {Rounding::nearest_even, Rounding::toward_zero, Rounding::away_from_zero}) {
    for (const Overflow overflow : {Overflow::saturate, Overflow::infinity_or_nan}) {
      probes::Tally tally;
      probes::all(oracle.values(), 4099, [&](float value) {
        const auto got = TypeParam::from_float(value, overflow, rounding);
        tally.compare(value, this->code_of(got), oracle.encode(value, overflow, rounding));
      });
      EXPECT_EQ(tally.wrong(), 0u) << "rounding " << static_cast<int>(rounding) << ", overflow "
                                   << static_cast<int>(overflow) << ": " << tally.report();
    }
  }
}

TYPED_TEST(Conversion, DefaultsToNearestEvenAndPtxOverflow) {
  const auto& oracle = oracle_of<TypeParam>();
  const Overflow overflow = sizeof(TypeParam) == 1 ? Overflow::saturate : Overflow::infinity_or_nan;
  probes::Tally tally;
  probes::every_exponent([&](float value) {
    const std::uint32_t expected = oracle.encode(value, overflow);
    tally.compare(value, this->code_of(TypeParam(value)), expected);
    tally.compare(value, this->code_of(TypeParam::from_float(value)), expected);
    tally.compare(value, this->code_of(from_float<TypeParam>(value)), expected);
  });
  EXPECT_EQ(tally.wrong(), 0u) << tally.report();
}

TYPED_TEST(Conversion, DecodingIgnoresBitsOutsideTheCode) {
  for (std::uint32_t code = 0; code < this->num_codes(); ++code) {
    const auto clean = this->from_code(code);
    const auto storage_ones = static_cast<decltype(TypeParam::bits)>(~0u);
    const auto outside = static_cast<decltype(TypeParam::bits)>(
        storage_ones & ~(this->from_code(this->num_codes() - 1).bits));
    const auto noisy =
        TypeParam::from_bits(static_cast<decltype(TypeParam::bits)>(clean.bits | outside));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(noisy)),
              std::bit_cast<std::uint32_t>(static_cast<float>(clean)))
        << "code " << code;
  }
}

TEST(Ue8m0Conversion, DecodesEveryCode) {
  for (int code = 0; code < 255; ++code)
    ASSERT_EQ(static_cast<float>(Ue8m0::from_bits(static_cast<std::uint8_t>(code))),
              std::ldexp(1.0, code - 127));
  EXPECT_TRUE(std::isnan(static_cast<float>(Ue8m0::from_bits(0xff))));
}

TEST(Ue8m0Conversion, RoundsToThePowerOfTwoBelowOrAbove) {
  const auto search = [](double value, bool up, Overflow overflow) -> std::uint32_t {
    if (std::isnan(value)) return 0xff;
    const std::uint32_t too_large = overflow == Overflow::saturate ? 0xfe : 0xff;
    value = std::fabs(value);
    if (std::isinf(value)) return too_large;
    int exponent = std::max(-127, value == 0 ? -127 : std::ilogb(value));
    if (up && std::ldexp(1.0, exponent) < value) ++exponent;
    return exponent > 127 ? too_large : static_cast<std::uint32_t>(exponent + 127);
  };
  std::vector<double> powers;
  for (int exponent = -149; exponent <= 127; ++exponent) powers.push_back(std::ldexp(1, exponent));
  for (const Overflow overflow : {Overflow::saturate, Overflow::infinity_or_nan}) {
    probes::Tally tally;
    probes::all(powers, 4099, [&](float value) {
      tally.compare(value, Ue8m0::round_down(value, overflow).bits, search(value, false, overflow));
      tally.compare(value, Ue8m0::round_up(value, overflow).bits, search(value, true, overflow));
    });
    EXPECT_EQ(tally.wrong(), 0u) << tally.report();
  }
}

TEST(Ue8m0Conversion, InverseIsTheReciprocal) {
  for (int code = 0; code < 255; ++code) {
    const Ue8m0 scale = Ue8m0::from_bits(static_cast<std::uint8_t>(code));
    ASSERT_EQ(static_cast<double>(static_cast<float>(scale)) *
                  static_cast<double>(static_cast<float>(scale.inverse())),
              1.0);
  }
  EXPECT_TRUE(Ue8m0::from_bits(0xff).inverse().is_nan());
}

TEST(Ue8m0Conversion, FromExponentClamps) {
  EXPECT_EQ(Ue8m0::from_exponent(-1000).bits, 0x00);
  EXPECT_EQ(Ue8m0::from_exponent(-128).bits, 0x00);
  EXPECT_EQ(Ue8m0::from_exponent(-127).bits, 0x00);
  EXPECT_EQ(Ue8m0::from_exponent(0).bits, 0x7f);
  EXPECT_EQ(Ue8m0::from_exponent(127).bits, 0xfe);
  EXPECT_EQ(Ue8m0::from_exponent(128).bits, 0xfe);
  EXPECT_EQ(Ue8m0::from_exponent(1000).bits, 0xfe);
}

template <class T>
void check_integer_rounding() {
  probes::Tally tally;
  const auto check = [&](float value) {
    double expected = std::isnan(value) ? 0.0 : std::nearbyint(static_cast<double>(value));
    expected =
        std::clamp<double>(expected, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    tally.compare(value, static_cast<std::uint32_t>(from_float<T>(value)),
                  static_cast<std::uint32_t>(static_cast<T>(expected)));
  };
  for (int half = -600; half <= 600; ++half) probes::around(half / 2.0, check);
  probes::every_exponent(check);
  probes::sweep(4099, check);
  EXPECT_EQ(tally.wrong(), 0u) << tally.report();
}

TEST(IntegerConversion, RoundsToNearestEvenAndSaturates) {
  check_integer_rounding<std::int8_t>();
  check_integer_rounding<std::int32_t>();
}

}  // namespace
}  // namespace tw
