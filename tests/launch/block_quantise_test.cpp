// Quantisers to MX and NVFP4 on the host against number/, and where they put scales.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "tilewright/launch/scaled_on_host.h"

namespace tw {
namespace {

// Numbers that NVIDIA's own layout gives for scales of 32 and of 16 elements.
TEST(ScaleBlocks, LieAsTheTensorCoreTakesThem) {
  const auto mx = ScaleExtent::of(512, 512, ScaleType::Ue8m0);
  EXPECT_EQ(mx.place(1, 0 / 32), 16);
  EXPECT_EQ(mx.place(32, 0 / 32), 4);
  EXPECT_EQ(mx.place(33, 96 / 32), 23);
  EXPECT_EQ(mx.place(0, 128 / 32), 512);
  EXPECT_EQ(mx.place(128, 0 / 32), 2048);
  EXPECT_EQ(mx.place(511, 511 / 32), 8191);
  EXPECT_EQ(mx.bytes(), 8192);
  const auto nvfp4 = ScaleExtent::of(256, 256, ScaleType::Ue4m3);
  EXPECT_EQ(nvfp4.place(5, 48 / 16), 83);
  EXPECT_EQ(nvfp4.place(255, 255 / 16), 4095);
}

TEST(ScaleBlocks, ArePackedAndUnpackedAndFilledUpWithZero) {
  const ScaleExtent extent = ScaleExtent::of(130, 32 * 6, ScaleType::Ue8m0);
  EXPECT_EQ(extent.row_blocks(), 2);
  EXPECT_EQ(extent.k_blocks(), 2);
  const std::int64_t pitch = 7;
  std::vector<std::uint8_t> rows(130 * pitch), back(130 * pitch, 9);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint8_t>(1 + i % 251);
  std::vector<std::uint8_t> blocks(static_cast<std::size_t>(extent.bytes()), 77);
  pack_scales(blocks.data(), rows.data(), pitch, extent);
  unpack_scales(back.data(), pitch, blocks.data(), extent);
  std::size_t set = 0;
  for (const std::uint8_t byte : blocks) set += byte != 0;
  EXPECT_EQ(set, 130u * 6);
  for (std::int64_t row = 0; row < 130; ++row) {
    for (std::int64_t s = 0; s < 6; ++s) {
      EXPECT_EQ(back[static_cast<std::size_t>(row * pitch + s)],
                rows[static_cast<std::size_t>(row * pitch + s)]);
    }
    EXPECT_EQ(back[static_cast<std::size_t>(row * pitch + 6)], 9) << "beside the scales";
  }
}

struct Quantised {
  static constexpr std::int64_t m = 131, k = 212, source_pitch = 219, elements_pitch = 216;
  std::vector<float> source = std::vector<float>(m * source_pitch);
  std::vector<std::uint8_t> elements = std::vector<std::uint8_t>(m * elements_pitch, 0xEE);
  std::vector<std::uint8_t> scales;
  BlockQuantiseProblem problem;

  Quantised(ElementType type, ScaleType scale_type, MxScale rule, unsigned seed,
            bool in_rows = false) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> mantissa(-2, 2);
    for (float& value : source) {
      value = std::ldexp(mantissa(random), static_cast<int>(random() % 40) - 20);
      if (random() % 64 == 0) value = 0;
    }
    // A block of zeros, an infinity, and in the last row a NaN.
    std::fill_n(source.begin(), 64, 0.0f);
    source[source_pitch + 40] = std::numeric_limits<float>::infinity();
    source[(m - 1) * source_pitch + 100] = std::numeric_limits<float>::quiet_NaN();
    problem = {.m = m,
               .k = k,
               .source = source.data(),
               .source_pitch = source_pitch,
               .source_type = ElementType::Fp32,
               .elements = elements.data(),
               .elements_pitch = elements_pitch,
               .element_type = type,
               .scale_type = scale_type,
               .rule = rule,
               .tensor_scale = nvfp4_tensor_scale(source),
               .scales_in_rows = in_rows};
    scales.resize(static_cast<std::size_t>(problem.scale_bytes()), 0x55);
    problem.scales = scales.data();
  }
  std::span<const float> row(std::int64_t index) const {
    return {source.data() + index * source_pitch, static_cast<std::size_t>(k)};
  }
};

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Each row as one span, through number/; `Scale` is the type of its scales.
template <class Element, class Scale, class Quantise, class Dequantise>
void expect_rows(Quantised& given, std::size_t block, const Quantise& quantise,
                 const Dequantise& dequantise) {
  ASSERT_TRUE(quantise_on_host(given.problem).is_good());
  std::vector<float> back(given.m * given.source_pitch, -1);
  ASSERT_TRUE(dequantise_on_host(back.data(), given.source_pitch, given.problem).is_good());
  const ScaleExtent extent = given.problem.extent();
  std::vector<Element> elements(static_cast<std::size_t>(given.k));
  std::vector<Scale> scales(num_blocks(elements.size(), block));
  std::vector<float> values(elements.size());
  for (std::int64_t row = 0; row < given.m; ++row) {
    quantise(std::span(elements), std::span(scales), given.row(row));
    dequantise(std::span(values), std::span<const Element>(elements),
               std::span<const Scale>(scales));
    for (std::size_t s = 0; s < scales.size(); ++s) {
      const auto place = given.problem.scales_in_rows
                             ? static_cast<std::size_t>(row) * scales.size() + s
                             : static_cast<std::size_t>(extent.place(row, static_cast<int>(s)));
      ASSERT_EQ(given.scales.at(place), scales[s].bits) << "row " << row << ", scale " << s;
    }
    const std::uint8_t* const line =
        given.elements.data() + row * given.elements_pitch * bits_of<Element> / 8;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::uint8_t found;
      if constexpr (is_subbyte<Element>)
        found = load_packed<Element>(line, i).bits;
      else
        found = line[i];
      ASSERT_EQ(found, elements[i].bits) << "row " << row << ", element " << i;
      const float returned = back[static_cast<std::size_t>(row * given.source_pitch) + i];
      ASSERT_TRUE(same(returned, values[i])) << "row " << row << ", element " << i;
    }
    ASSERT_EQ(back[static_cast<std::size_t>(row * given.source_pitch + given.k)], -1);
  }
}

template <class Element>
void expect_mx(ElementType type) {
  for (const MxScale rule : {MxScale::floor, MxScale::rceil}) {
    Quantised given(type, ScaleType::Ue8m0, rule, 7, rule == MxScale::rceil);
    expect_rows<Element, Ue8m0>(
        given, mx_block,
        [&](std::span<Element> elements, std::span<Ue8m0> scales, std::span<const float> values) {
          quantise_mx<Element>(elements, scales, values, rule);
        },
        [](std::span<float> values, std::span<const Element> elements,
           std::span<const Ue8m0> scales) { dequantise_mx<Element>(values, elements, scales); });
  }
}

TEST(BlockQuantise, GivesWhatTheDefinitionsGive) {
  expect_mx<E4m3>(ElementType::E4m3);
  expect_mx<E5m2>(ElementType::E5m2);
  expect_mx<E2m3>(ElementType::E2m3);
  expect_mx<E3m2>(ElementType::E3m2);
  expect_mx<E2m1>(ElementType::E2m1);
  for (const bool in_rows : {false, true}) {
    Quantised given(ElementType::E2m1, ScaleType::Ue4m3, MxScale::floor, 8, in_rows);
    const float tensor_scale = given.problem.tensor_scale;
    expect_rows<E2m1, Ue4m3>(
        given, nvfp4_block,
        [&](std::span<E2m1> elements, std::span<Ue4m3> scales, std::span<const float> values) {
          quantise_nvfp4(elements, scales, values, tensor_scale);
        },
        [&](std::span<float> values, std::span<const E2m1> elements,
            std::span<const Ue4m3> scales) {
          dequantise_nvfp4(values, elements, scales, tensor_scale);
        });
  }
}

TEST(BlockQuantise, ReadsSixteenBits) {
  Quantised given(ElementType::E2m1, ScaleType::Ue8m0, MxScale::floor, 9);
  for (float& value : given.source) value = static_cast<float>(Bf16(value));
  ASSERT_TRUE(quantise_on_host(given.problem).is_good());
  const auto elements = given.elements, scales = given.scales;
  std::vector<Bf16> narrow(given.source.size());
  for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = Bf16(given.source[i]);
  given.problem.source = narrow.data();
  given.problem.source_type = ElementType::Bf16;
  std::fill(given.scales.begin(), given.scales.end(), std::uint8_t{1});
  ASSERT_TRUE(quantise_on_host(given.problem).is_good());
  EXPECT_EQ(given.elements, elements);
  EXPECT_EQ(given.scales, scales);
}

TEST(BlockQuantise, RefusesWithASentence) {
  const auto says = [](const BlockQuantiseProblem& problem, const char* words) {
    const Status status = quantise_on_host(problem);
    EXPECT_FALSE(status.is_good());
    EXPECT_NE(std::string(status.sentence()).find(words), std::string::npos) << status.sentence();
  };
  const Quantised good(ElementType::E2m1, ScaleType::Ue8m0, MxScale::floor, 1);
  BlockQuantiseProblem bad = good.problem;
  bad.element_type = ElementType::Bf16;
  says(bad, "elements have type bf16");
  bad = good.problem;
  bad.scale_type = ScaleType::Ue4m3;
  bad.element_type = ElementType::E4m3;
  says(bad, "must be e2m1");
  bad = good.problem;
  bad.elements_pitch = 215;
  says(bad, "215 of 4 bits");
  bad = good.problem;
  bad.source_type = ElementType::S8;
  says(bad, "source has type s8");
  bad = good.problem;
  bad.scales = nullptr;
  says(bad, "scales is null");
  bad = good.problem;
  bad.source_pitch = 100;
  says(bad, "pitch of the source is 100");
}

}  // namespace
}  // namespace tw
