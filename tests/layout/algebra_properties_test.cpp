// The definitions as assertions, over all coordinates of many random layouts.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "random_layout.h"
#include "tilewright/base/status.h"
#include "tilewright/layout/steps.h"

namespace tw {
namespace {

constexpr int num_layouts = 12000;

std::uint64_t seed() {
  static const std::uint64_t value = test_seed();
  return value;
}

std::vector<std::int64_t> offsets(const Layout& layout) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(size(layout)));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = offset(layout, static_cast<std::int64_t>(i));
  }
  return result;
}

// The layout as a mode of another, where outer parentheses around a single mode vanish.
Layout as_mode(const Layout& layout) { return mode(from_modes(layout), 0); }

TEST(AlgebraProperties, TextComesBack) {
  RandomLayouts random(seed());
  for (int i = 0; i < num_layouts; ++i) {
    Layout layout = random.any(12, 9);
    ASSERT_EQ(parse_layout(to_string(layout)), layout) << to_string(layout);
  }
}

TEST(AlgebraProperties, CoalesceKeepsTheFunction) {
  RandomLayouts random(seed());
  for (int i = 0; i < num_layouts; ++i) {
    Layout layout = random.any(5, 6);
    SCOPED_TRACE(to_string(layout));
    ASSERT_EQ(offsets(coalesce(layout)), offsets(layout));
    ASSERT_LE(depth(coalesce(layout)), 1);
    ASSERT_EQ(coalesce(coalesce(layout)), coalesce(layout));
    ASSERT_EQ(offsets(coalesce_modes(layout)), offsets(layout));
    ASSERT_EQ(rank(coalesce_modes(layout)), rank(layout));
    ASSERT_EQ(offsets(flatten(layout)), offsets(layout));
    std::vector<std::int64_t> all = offsets(layout);
    std::vector<std::int64_t> some = offsets(filter(layout));
    ASSERT_EQ(std::set(all.begin(), all.end()), std::set(some.begin(), some.end()));
  }
}

// Accepted compositions are right, and in the coordinates of the right operand.
TEST(AlgebraProperties, CompositionIsTheCompositionOfFunctions) {
  RandomLayouts random(seed());
  int accepted = 0;
  for (int i = 0; i < num_layouts; ++i) {
    Layout left = random.any(4, 8);
    Layout right = i % 2 == 0 ? random.any(4, 6) : random.compact(4, 6, i % 4 == 1);
    auto composed = attempt([&] { return composition(left, right); });
    if (!composed.status.is_good()) continue;
    ++accepted;
    SCOPED_TRACE(to_string(left) + " o " + to_string(right));
    ASSERT_TRUE(is_compatible(right, *composed.value)) << to_string(*composed.value);
    for (std::int64_t c = 0; c < size(right); ++c) {
      ASSERT_EQ(offset(*composed.value, c), offset(left, offset(right, c)));
    }
  }
  std::printf("%d of %d compositions exist\n", accepted, num_layouts);
  EXPECT_GT(accepted, num_layouts / 4);
}

// Refused compositions do not exist: a prime number of offsets is a layout only when they are
// evenly spaced. (Steps that lead diagonally through two leaves are refused all the same.)
TEST(AlgebraProperties, CompositionRefusesOnlyWhatIsNoLayout) {
  RandomLayouts random(seed());
  int refused = 0;
  for (int i = 0; i < num_layouts; ++i) {
    Layout left = coalesce(random.compact(2, 12, true));
    Layout right = single(random.number(1, 3) * 2 - 1, random.number(1, 20));
    if (right.strides[0] > left.extents[0] && right.strides[0] % left.extents[0] != 0) continue;
    if (attempt([&] { return composition(left, right); }).status.is_good()) continue;
    ++refused;
    bool is_even = true;
    std::int64_t step = offset(left, offset(right, 1));
    for (std::int64_t c = 2; c < size(right); ++c) {
      is_even &= offset(left, offset(right, c)) == c * step;
    }
    ASSERT_FALSE(is_even) << to_string(left) << " o " << to_string(right);
  }
  EXPECT_GT(refused, 100);
}

TEST(AlgebraProperties, ComplementIsOrderedDisjointAndCompletes) {
  RandomLayouts random(seed());
  int accepted = 0;
  for (int i = 0; i < num_layouts; ++i) {
    Layout layout = i % 2 == 0 ? random.any(4, 5) : random.compact(4, 5, true);
    std::int64_t target = random.number(1, 600);
    auto rest = attempt([&] { return complement(layout, target); });
    if (!rest.status.is_good()) continue;
    ++accepted;
    SCOPED_TRACE(to_string(layout) + " in " + std::to_string(target));
    std::vector<std::int64_t> others = offsets(*rest.value);
    for (std::size_t j = 1; j < others.size(); ++j) ASSERT_LT(others[j - 1], others[j]);
    std::set<std::int64_t> reached;
    std::vector<std::int64_t> own = offsets(filter(layout));
    for (std::int64_t other : others) {
      for (std::int64_t mine : own) ASSERT_TRUE(reached.insert(mine + other).second);
    }
    ASSERT_GE(cosize(from_modes(layout, *rest.value)), target);
  }
  EXPECT_GT(accepted, num_layouts / 3);
}

TEST(AlgebraProperties, InversesInvert) {
  RandomLayouts random(seed());
  int left_inverses = 0;
  for (int i = 0; i < num_layouts; ++i) {
    Layout layout = i % 2 == 0 ? random.any(5, 5) : random.compact(5, 5, i % 4 == 1);
    SCOPED_TRACE(to_string(layout));
    Layout right = right_inverse(layout);
    for (std::int64_t j = 0; j < size(right); ++j) ASSERT_EQ(offset(layout, offset(right, j)), j);
    Layout kernel = nullspace(layout);
    for (std::int64_t j = 0; j < size(kernel); ++j) ASSERT_EQ(offset(layout, offset(kernel, j)), 0);
    ASSERT_EQ(size(kernel), size(layout) / size(filter(layout)));
    auto left = attempt([&] { return left_inverse(layout); });
    if (!left.status.is_good()) continue;
    ++left_inverses;
    for (std::int64_t j = 0; j < size(layout); ++j) {
      std::int64_t image = offset(layout, j);
      ASSERT_EQ(offset(layout, offset(*left.value, image)), image);
    }
  }
  EXPECT_GT(left_inverses, num_layouts / 3);
}

// A compact layout is a permutation, so its right inverse is the whole inverse.
TEST(AlgebraProperties, InverseOfAPermutationIsComplete) {
  RandomLayouts random(seed());
  for (int i = 0; i < num_layouts; ++i) {
    Layout layout = random.compact(5, 6, false);
    ASSERT_EQ(size(right_inverse(layout)), size(layout)) << to_string(layout);
    ASSERT_EQ(offsets(left_inverse(layout)), offsets(right_inverse(layout))) << to_string(layout);
  }
}

TEST(AlgebraProperties, SwizzledInversesInvert) {
  RandomLayouts random(seed());
  int accepted = 0;
  for (int i = 0; i < num_layouts; ++i) {
    int bits = random.number(1, 3);
    int shift = random.number(bits, 4);
    Swizzle swizzle =
        make_swizzle(bits, random.number(0, 3), random.number(0, 1) == 0 ? shift : -shift);
    Layout layout = with_swizzle(random.compact(5, 4, false), swizzle);
    auto inverse = attempt([&] { return right_inverse(layout); });
    if (!inverse.status.is_good()) continue;
    ++accepted;
    for (std::int64_t j = 0; j < size(*inverse.value); ++j) {
      ASSERT_EQ(offset(layout, offset(*inverse.value, j)), j) << to_string(layout);
    }
  }
  EXPECT_GT(accepted, num_layouts / 10);
}

TEST(AlgebraProperties, DivideSplitsIntoTilesThatCoverTheLayout) {
  RandomLayouts random(seed());
  int accepted = 0;
  for (int i = 0; i < num_layouts; ++i) {
    Layout layout = random.any(4, 6);
    Layout tile = random.compact(2, 4, i % 2 == 0);
    auto divided = attempt([&] { return logical_divide(layout, tile); });
    if (!divided.status.is_good()) continue;
    ++accepted;
    SCOPED_TRACE(to_string(layout) + " / " + to_string(tile));
    ASSERT_EQ(rank(*divided.value), 2);
    Layout first = mode(*divided.value, 0);
    ASSERT_TRUE(is_compatible(as_mode(tile), first)) << to_string(*divided.value);
    for (std::int64_t c = 0; c < size(tile); ++c) {
      ASSERT_EQ(offset(first, c), offset(layout, offset(tile, c)));
    }
    if (size(*divided.value) == size(layout)) {
      std::vector<std::int64_t> before = offsets(layout);
      std::vector<std::int64_t> after = offsets(*divided.value);
      ASSERT_EQ(std::multiset(before.begin(), before.end()),
                std::multiset(after.begin(), after.end()));
    }
  }
  EXPECT_GT(accepted, num_layouts / 5);
}

TEST(AlgebraProperties, DividesRearrangeTheSameModes) {
  RandomLayouts random(seed());
  int accepted = 0;
  for (int i = 0; i < num_layouts; ++i) {
    Layout layout = random.compact(4, 6, true);
    if (rank(layout) < 2) continue;
    Tiler tiles = tiler(random.number(1, 4), random.number(1, 4));
    auto logical = attempt([&] { return logical_divide(layout, tiles); });
    if (!logical.status.is_good()) continue;
    ++accepted;
    SCOPED_TRACE(to_string(layout));
    Layout zipped = zipped_divide(layout, tiles);
    ASSERT_EQ(rank(zipped), 2);
    ASSERT_EQ(size(mode(zipped, 0)), size(tiles[0]) * size(tiles[1]));
    ASSERT_EQ(offsets(tiled_divide(layout, tiles)), offsets(zipped));
    ASSERT_EQ(offsets(flat_divide(layout, tiles)), offsets(zipped));
    std::vector<std::int64_t> left = offsets(*logical.value);
    std::vector<std::int64_t> right = offsets(zipped);
    ASSERT_EQ(std::multiset(left.begin(), left.end()), std::multiset(right.begin(), right.end()));
  }
  EXPECT_GT(accepted, num_layouts / 4);
}

TEST(AlgebraProperties, ProductRepeatsTheBlock) {
  RandomLayouts random(seed());
  int accepted = 0;
  for (int i = 0; i < num_layouts; ++i) {
    Layout block = random.compact(3, 4, i % 2 == 0);
    Layout copies = random.compact(3, 4, i % 4 == 0);
    auto product = attempt([&] { return logical_product(block, copies); });
    if (!product.status.is_good()) continue;
    ++accepted;
    SCOPED_TRACE(to_string(block) + " x " + to_string(copies));
    ASSERT_EQ(rank(*product.value), 2);
    ASSERT_EQ(offsets(mode(*product.value, 0)), offsets(block));
    ASSERT_TRUE(is_compatible(as_mode(copies), mode(*product.value, 1)));
    std::vector<std::int64_t> all = offsets(*product.value);
    ASSERT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    auto blocked = attempt([&] { return blocked_product(block, copies); });
    auto raked = attempt([&] { return raked_product(block, copies); });
    ASSERT_EQ(blocked.status.is_good(), raked.status.is_good());
    if (!blocked.status.is_good()) continue;
    std::vector<std::int64_t> side_by_side = offsets(*blocked.value);
    std::vector<std::int64_t> spread = offsets(*raked.value);
    std::set<std::int64_t> expected(all.begin(), all.end());
    ASSERT_EQ(std::set(side_by_side.begin(), side_by_side.end()), expected);
    ASSERT_EQ(std::set(spread.begin(), spread.end()), expected);
  }
  EXPECT_GT(accepted, num_layouts / 3);
}

TEST(AlgebraProperties, RecastSeesTheSameMemory) {
  RandomLayouts random(seed());
  int accepted = 0;
  for (int i = 0; i < num_layouts; ++i) {
    Layout layout = random.compact(4, 8, true);
    std::int64_t factor = random.number(2, 4);
    auto larger = attempt([&] { return upcast(layout, factor); });
    if (larger.status.is_good()) {
      ++accepted;
      std::set<std::int64_t> expected;
      for (std::int64_t value : offsets(layout)) expected.insert(value / factor);
      std::vector<std::int64_t> actual = offsets(*larger.value);
      ASSERT_EQ(std::set(actual.begin(), actual.end()), expected) << to_string(layout);
    }
    auto smaller = attempt([&] { return downcast(layout, factor); });
    if (smaller.status.is_good()) {
      std::set<std::int64_t> expected;
      for (std::int64_t value : offsets(layout)) {
        for (std::int64_t part = 0; part < factor; ++part) expected.insert(value * factor + part);
      }
      std::vector<std::int64_t> actual = offsets(*smaller.value);
      ASSERT_EQ(std::set(actual.begin(), actual.end()), expected) << to_string(layout);
    }
  }
  EXPECT_GT(accepted, num_layouts / 20);
}

TEST(AlgebraProperties, CommonVectorLiesTogetherInBoth) {
  RandomLayouts random(seed());
  for (int i = 0; i < num_layouts; ++i) {
    Layout left = random.compact(4, 6, i % 2 == 0);
    Layout right = random.compact(4, 6, i % 3 == 0);
    std::int64_t common = max_common_vector(left, right);
    Layout indices = max_common_layout(left, right);
    ASSERT_EQ(size(indices), common);
    for (std::int64_t j = 0; j < common; ++j) {
      ASSERT_EQ(offset(right, offset(indices, j)), j) << to_string(left) << to_string(right);
      ASSERT_EQ(offset(left, offset(indices, j)), j) << to_string(left) << to_string(right);
    }
    ASSERT_EQ(max_common_vector(left, left), size(right_inverse(left)));
  }
}

// Wherever step_kind says that a step is a constant, it is: from every element that it may begin
// at, to every other of the mode, in a tile that begins at any multiple of the swizzle's period.
TEST(AlgebraProperties, StepsAreTheConstantsTheySay) {
  RandomLayouts random(seed());
  int adding = 0, flipping = 0;
  for (int i = 0; i < num_layouts; ++i) {
    Layout layout = random.compact(4, 8, i % 4 == 0);
    const int bits = random.number(0, 3);
    layout.swizzle = make_swizzle(bits, random.number(0, 2), random.number(0, 1) == 0 ? 3 : -3);
    const int index = random.number(0, rank(layout) - 1);
    const std::int64_t step = std::int64_t{1} << random.number(0, 3);
    const auto kind = attempt([&] { return step_kind(layout, index, step); });
    if (!kind.status.is_good() || *kind.value == StepKind::Neither) continue;
    const bool adds = *kind.value == StepKind::Adds;
    ++(adds ? adding : flipping);
    const Layout plain = without_swizzle(layout);
    const Layout way = mode(plain, index);
    const Swizzle swizzle = layout.swizzle;
    const std::int64_t first = 5 * detail::pointer_unit(layout, 8);
    for (std::int64_t at = 0; at < size(layout); ++at) {
      std::int64_t below = 1;
      for (int other = 0; other < index; ++other) below *= size(mode(layout, other));
      const std::int64_t own = at / below % size(way);
      if (!adds && own >= step) continue;
      for (std::int64_t distance = 0; own + distance < size(way); distance += step) {
        const std::int64_t from = first + swizzle(offset(plain, at));
        const std::int64_t to = first + swizzle(offset(plain, at + distance * below));
        const std::int64_t constant = offset(way, distance);
        ASSERT_EQ(to, adds ? from + constant : from ^ swizzle(constant))
            << to_string(layout) << " mode " << index << " step " << step << " at " << at;
      }
    }
  }
  EXPECT_GT(adding, num_layouts / 20);
  EXPECT_GT(flipping, num_layouts / 20);
}

}  // namespace
}  // namespace tw
