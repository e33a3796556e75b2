// Which TMA descriptors a bug of drivers is mended in.
#include "tilewright/launch/small_tensor.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tw {
namespace {

constexpr std::uint64_t bit = std::uint64_t{1} << 21;

TensorMap mended(std::int64_t span, int driver) {
  TensorMap map;
  for (std::uint64_t& word : map.words) word = ~std::uint64_t{0};
  mend_small_tensor(map, span, driver);
  return map;
}

TEST(SmallTensor, LosesOneBitUnderDriversThatMaySetItWrongly) {
  for (const int driver : {0, 12080, 13000, 13010, 13020, 13030}) {
    const TensorMap map = mended((128 << 10) - 1, driver);
    for (unsigned i = 0; i < 16; ++i) {
      EXPECT_EQ(map.words[i], ~std::uint64_t{0} ^ (i == 1 ? bit : 0)) << driver << ", word " << i;
    }
  }
}

TEST(SmallTensor, KeepsWhatLargeTensorsAndLaterDriversSay) {
  EXPECT_EQ(mended(128 << 10, 13000).words[1], ~std::uint64_t{0});
  EXPECT_EQ(mended(1000, 13040).words[1], ~std::uint64_t{0});
}

TEST(SmallTensor, SpansFromItsFirstByteToTheEndOfItsLastLine) {
  MatrixBox box{.inner = 40, .outer = 10, .pitch_bytes = 96};
  EXPECT_EQ(span_bytes(box), 9 * 96 + 80);
  box.batch = 3;
  box.batch_pitch_bytes = 4096;
  EXPECT_EQ(span_bytes(box), 2 * 4096 + 9 * 96 + 80);
  box.type = ElementType::E2m1;
  EXPECT_EQ(span_bytes(box), 2 * 4096 + 9 * 96 + 20);
  Im2colBox images;
  images.rank = 4;
  const std::int64_t extents[] = {64, 7, 5, 2}, pitches[] = {128, 1024, 8192};
  std::copy_n(extents, 4, images.extents);
  std::copy_n(pitches, 3, images.pitch_bytes);
  EXPECT_EQ(span_bytes(images), 128 + 6 * 128 + 4 * 1024 + 8192);
}

}  // namespace
}  // namespace tw
