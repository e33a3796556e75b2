#include "tilewright/number/nvfp4.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "oracle.h"
#include "probes.h"

namespace tw {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float largest_product = 448 * 6;

struct Quantised {
  float tensor_scale;
  std::vector<E2m1> elements;
  std::vector<Ue4m3> scales;
  std::vector<float> back;

  explicit Quantised(std::vector<float> values)
      : tensor_scale(nvfp4_tensor_scale(values)),
        elements(values.size()),
        scales((values.size() + 15) / 16),
        back(values.size()) {
    quantise_nvfp4(elements, scales, values, tensor_scale);
    dequantise_nvfp4(back, elements, scales, tensor_scale);
  }
};

TEST(Nvfp4, GoldenBlocks) {
  std::vector<float> values(48, 0.0f);
  values[0] = -largest_product;  // makes the tensor scale 1, and the first block's scale 448
  values[1] = 448 * 5;           // a tie, to 4
  values[2] = 448 * 0.25f;       // a tie, to 0
  const std::array second{6.0f, 5.0f, 2.5f, -0.75f, 1.25f, 3.5f, 0.3f};
  std::copy(second.begin(), second.end(), values.begin() + 16);
  const Quantised got(values);
  EXPECT_EQ(got.tensor_scale, 1.0f);
  EXPECT_EQ(got.scales[0].bits, 0x7e);
  EXPECT_EQ(got.back[0], -largest_product);
  EXPECT_EQ(got.back[1], 448 * 4);
  EXPECT_EQ(got.back[2], 0.0f);
  EXPECT_EQ(got.scales[1].bits, 0x38);
  const std::array expected{6.0f, 4.0f, 2.0f, -1.0f, 1.0f, 4.0f, 0.5f};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got.back[16 + i], expected[i]) << i;
  EXPECT_EQ(got.scales[2].bits, 0x08);  // all zero: 2^-6
  for (std::size_t i = 32; i < 48; ++i) EXPECT_EQ(got.elements[i].bits, 0);
}

TEST(Nvfp4, BlockScaleRoundsToNearestEvenAndIsClamped) {
  EXPECT_EQ(nvfp4_block_scale(6 * 1.0625f, 1.0f).bits, 0x38);  // a tie, to 1
  EXPECT_EQ(nvfp4_block_scale(6 * 1.1875f, 1.0f).bits, 0x3a);  // a tie, to 1.25
  EXPECT_EQ(nvfp4_block_scale(6 * 1.125f, 1.0f).bits, 0x39);
  EXPECT_EQ(nvfp4_block_scale(0.0f, 1.0f).bits, 0x08);
  EXPECT_EQ(nvfp4_block_scale(6 * 0x1p-9f, 1.0f).bits, 0x08);  // would be subnormal
  EXPECT_EQ(nvfp4_block_scale(6e9f, 1.0f).bits, 0x7e);
  EXPECT_EQ(nvfp4_block_scale(infinity, 1.0f).bits, 0x7e);
  EXPECT_EQ(nvfp4_block_scale(not_a_number, 1.0f).bits, 0x7f);
}

TEST(Nvfp4, OrderOfOperationsDecidesNearTies) {
  // Found by search: value / (tensor scale * block scale) and value * (1 / (tensor scale * block
  // scale)) fall on or below the tie and give the lower neighbour.
  std::vector<float> values(32, 0.0f);
  values[0] = 67066;
  values[16] = 25262;
  const std::array near_ties{0x1.571088p+14f, 0x1.571088p+13f, -0x1.571088p+12f};
  std::copy(near_ties.begin(), near_ties.end(), values.begin() + 17);
  const Quantised got(values);
  EXPECT_EQ(got.scales[1].bits, 0x73);
  EXPECT_EQ(got.elements[17].bits, 0x7);
  EXPECT_EQ(got.elements[18].bits, 0x5);
  EXPECT_EQ(got.elements[19].bits, 0xb);
}

TEST(Nvfp4, TensorScale) {
  EXPECT_EQ(nvfp4_tensor_scale(largest_product), 1.0f);
  EXPECT_EQ(nvfp4_tensor_scale(largest_product / 4), 0.25f);
  EXPECT_EQ(nvfp4_tensor_scale(0.0f), 0x1p-121f);
  EXPECT_EQ(nvfp4_tensor_scale(0x1p-149f), 0x1p-121f);
  const std::array values{1.0f, -largest_product, not_a_number, infinity, -infinity};
  EXPECT_EQ(nvfp4_tensor_scale(values), 1.0f);
}

TEST(Nvfp4, ZeroTensorStaysZero) {
  const Quantised got(std::vector<float>(20, 0.0f));
  EXPECT_EQ(got.scales.size(), 2u);
  for (const float value : got.back) EXPECT_EQ(value, 0.0f);
}

TEST(Nvfp4, NanSpoilsItsBlockAlone) {
  std::vector<float> values(48, 1.0f);
  values[20] = not_a_number;
  const Quantised got(values);
  EXPECT_EQ(got.scales[1].bits, 0x7f);
  for (std::size_t i = 0; i < 48; ++i) {
    if (i / 16 == 1) {
      EXPECT_TRUE(std::isnan(got.back[i]));
      EXPECT_EQ(got.elements[i].bits, 0x7);
    } else {
      EXPECT_NEAR(got.back[i], 1.0f, 1e-6f);
    }
  }
}

TEST(Nvfp4, InfinitySaturates) {
  std::vector<float> values(32, 1.0f);
  values[3] = -infinity;
  values[20] = largest_product;
  const Quantised got(values);
  EXPECT_EQ(got.tensor_scale, 1.0f);
  EXPECT_EQ(got.scales[0].bits, 0x7e);
  EXPECT_EQ(got.back[3], -largest_product);
  EXPECT_EQ(got.back[4], 0.0f);
  EXPECT_EQ(got.back[20], largest_product);
}

TEST(Nvfp4, ExtremeTensorsStayFinite) {
  for (const float value : {0x1p-149f, 0x1p-130f, 0x1p-126f, 0x1p-110f, 0x1.fffffep127f}) {
    const Quantised got(std::vector<float>(16, -value));
    for (const float back : got.back) {
      EXPECT_TRUE(std::isfinite(back)) << value;
      // Half a step at 6, or half of the smallest step that there is: 2^-121 * 2^-6 * 0.5.
      EXPECT_LE(std::fabs(back + value), value / 6 + 0x1p-129f) << value;
    }
  }
}

TEST(Nvfp4, ScalesAndElementsAreTheRoundedQuotients) {
  std::mt19937 random(11);
  probes::Tally tally;
  for (int round = 0; round < 500; ++round) {
    std::vector<float> values(64 + round % 17);
    for (float& value : values)
      value = std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())),
                         round % 100 - 80 - static_cast<int>(random() % 10));
    const Quantised got(values);
    double amax = 0;
    for (const float value : values) amax = std::max<double>(amax, std::fabs(value));
    const float tensor_scale = static_cast<float>(amax / largest_product);
    ASSERT_EQ(got.tensor_scale, tensor_scale);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t begin = i / 16 * 16;
      float block_amax = 0;
      for (std::size_t j = begin; j < std::min(begin + 16, values.size()); ++j)
        block_amax = std::max(block_amax, std::fabs(values[j]));
      const float scale = std::max(block_amax / 6 / tensor_scale, 0x1p-6f);
      const std::uint32_t scale_code = oracle::oracle_of<Ue4m3>().encode(scale, Overflow::saturate);
      tally.compare(scale, got.scales[i / 16].bits, scale_code);
      const float rounded = static_cast<float>(oracle::oracle_of<Ue4m3>().decode(scale_code));
      const float quotient = values[i] * (1 / tensor_scale / rounded);
      tally.compare(quotient, got.elements[i].bits,
                    oracle::oracle_of<E2m1>().encode(quotient, Overflow::saturate));
    }
  }
  EXPECT_EQ(tally.wrong(), 0u) << tally.report();
}

TEST(Nvfp4, RoundTripErrorIsBounded) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> values(16 * 1000);
  for (float& value : values) value = normal(random);
  const Quantised got(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Half of the widest gap between elements is 1; a scale rounded down by at most 1/16 saturates
    // 6 / (15/16) = 6.4 to 6, which is less.
    const double unit = got.tensor_scale * static_cast<float>(got.scales[i / 16]);
    const double magnitude = std::fabs(values[i]) / unit;
    const double bound = magnitude < 2 ? 0.25 : magnitude < 4 ? 0.5 : 1.0;
    ASSERT_LE(std::fabs(values[i] - got.back[i]), unit * bound * (1 + 1e-5)) << values[i];
  }
}

TEST(Nvfp4, SizesAreRefusedWhenTheyDoNotMatch) {
  std::vector<float> values(17);
  std::vector<E2m1> elements(17), too_few_elements(16);
  std::vector<Ue4m3> scales(2), too_few_scales(1);
  EXPECT_THROW(quantise_nvfp4(too_few_elements, scales, values, 1), Refusal);
  EXPECT_THROW(quantise_nvfp4(elements, too_few_scales, values, 1), Refusal);
  EXPECT_THROW(dequantise_nvfp4(values, too_few_elements, scales, 1), Refusal);
  EXPECT_THROW(dequantise_nvfp4(values, elements, too_few_scales, 1), Refusal);
}

}  // namespace
}  // namespace tw
