// Attention whose queries say which keys they see, on the virtual GPU: exact where the result is,
// within a bound elsewhere, clean on every schedule.
#include "tests/programs/few_queries.h"

namespace tw::programs {
namespace {

using Ranges = AttentionShape::Ranges;

struct Ranged {
  using Page = Sm90Attention;
  static constexpr AttentionConfig config = {
      .tiling = {.m = 128, .n = 64}, .keys = 64, .ranges = 1};
};

// Masks as they are elsewhere, documents, and ranges that begin and end anywhere.
std::vector<AttentionShape> shapes() {
  std::vector<AttentionShape> all = attention_shapes<Ranged>();
  for (AttentionShape& shape : all) shape.ranges = Ranges::OfMasks;
  for (const Ranges ranges : {Ranges::Documents, Ranges::Any}) {
    all.push_back({.heads = 2, .queries = {200}, .keys = {350}, .ranges = ranges});
    all.push_back({.heads = 2,
                   .key_heads = 2,
                   .queries = {5, 0, 129, 1, 64},
                   .keys = {70, 30, 260, 1, 0},
                   .ragged = true,
                   .ranges = ranges});
  }
  return all;
}

TEST(Ranges, OneHotRowsAreExact) {
  for (const AttentionShape& shape : shapes()) expect_exact<Ranged>(shape, {});
}

TEST(Ranges, RandomRowsAreWithinTheBound) {
  for (const AttentionShape& shape : shapes()) expect_within_bound<Ranged>(shape);
}

// A range is a mask: its bits are those of the kernel that has the mask itself.
TEST(Ranges, BitsAreThoseOfMasks) {
  for (AttentionShape shape : attention_shapes<Ranged>()) {
    AttentionCase masked(shape);
    shape.ranges = Ranges::OfMasks;
    AttentionCase ranged(shape);
    masked.fill_random(3);
    ranged.fill_random(3);
    ASSERT_TRUE(test::clean(run_attention<AttentionTile<128, 64, 64>>(masked, {})));
    ASSERT_TRUE(test::clean(run_attention<Ranged>(ranged, {})));
    EXPECT_EQ(masked.output.bits, ranged.output.bits);
  }
}

// Keys and values that no query sees are not read: they may be no numbers.
TEST(Ranges, KeysThatNobodySeesAreNotTouched) {
  AttentionShape shape = {.queries = {200}, .keys = {400}, .causal = true, .window = 40};
  shape.ranges = Ranges::OfMasks;
  AttentionCase data(shape);
  data.fill_one_hot(1);
  // The first query sees keys from 161 on; the block of 64 keys before those is of no tile.
  for (int row = 0; row < 128; ++row) {
    for (int column = 0; column < shape.columns; ++column) {
      data.k.bits[data.k.index(row, 0, column)] = HostHeads::poison;
      data.v.bits[data.v.index(row, 0, column)] = HostHeads::poison;
    }
  }
  ASSERT_TRUE(test::clean(run_attention<Ranged>(data, {})));
  EXPECT_EQ(data.wrong_one_hot(), 0);
}

TEST(Ranges, AreExactAndCleanOn200Schedules) {
  for (const vgpu::Options& options : schedules(50)) {
    const std::uint64_t seed = options.seed;
    const int more = static_cast<int>(seed);
    expect_exact<Ranged>({.heads = 2,
                          .queries = {130, 20 + more},
                          .keys = {150 + more, 64},
                          .ragged = true,
                          .ranges = seed % 2 == 0 ? Ranges::Documents : Ranges::Any},
                         options);
  }
}

}  // namespace
}  // namespace tw::programs
