#include "tilewright/number/block_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oracle.h"
#include "probes.h"

namespace tw {
namespace {

template <class Element>
void expect_defined_scales() {
  for (const BlockScale rule : {BlockScale::real, BlockScale::power_of_two}) {
    probes::Tally tally;
    const auto check = [&](float amax) {
      tally.compare(
          amax, std::bit_cast<std::uint32_t>(block_scale<Element>(amax, rule)),
          std::bit_cast<std::uint32_t>(oracle::block_scale(
              std::fabs(amax), oracle::spec_of<Element>().max, rule == BlockScale::power_of_two)));
    };
    probes::every_exponent(check);
    for (int exponent = -149; exponent <= 127; ++exponent) {
      probes::around(std::ldexp(1.0, exponent), check);
      probes::around(std::ldexp(NumberTraits<Element>::max_finite, exponent - 15), check);
    }
    EXPECT_EQ(tally.wrong(), 0u) << Element::name << ": " << tally.report();
  }
}

TEST(BlockScale, FollowsTheDefinitionAtEveryBoundary) {
  expect_defined_scales<E4m3>();
  expect_defined_scales<E5m2>();
}

TEST(BlockScale, KeepsElementsInsideOfTheRange) {
  for (const BlockScale rule : {BlockScale::real, BlockScale::power_of_two}) {
    probes::every_exponent([&](float amax) {
      const float scale = block_scale<E4m3>(amax, rule);
      const E4m3 element = scaled_element<E4m3>(amax, 1.0f / scale);
      if (!std::isfinite(amax)) {
        ASSERT_EQ(element.bits, 0x7f);
      } else if (std::fabs(amax) >= 0x1p-110f) {
        // The largest value takes the largest element, or the upper half of the range.
        const float magnitude = std::fabs(static_cast<float>(element));
        ASSERT_GE(magnitude, rule == BlockScale::real ? 448.0f : 224.0f) << amax;
        ASSERT_LE(magnitude, 448.0f) << amax;
      }
    });
  }
}

}  // namespace
}  // namespace tw
