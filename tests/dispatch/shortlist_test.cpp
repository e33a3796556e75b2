// Made-up launches: what they cost is said, not computed.
#include "src/dispatch/shortlist.h"

#include <gtest/gtest.h>

namespace tw {

namespace {

// An instance, of which a name and a configuration are known.
template <MatmulConfig config>
constexpr ProductFacts facts = {config, 0, 0, false, false, false, 0};
template <MatmulConfig config>
constexpr Instance kernel(const char* name) {
  return {name, "sm90a", 1, &facts<config>, nullptr, nullptr};
}

std::string names(const std::vector<LaunchChoice>& launches) {
  std::string text;
  for (const LaunchChoice& one : launches) {
    text += std::string(text.empty() ? "" : " ") + one.instance->name;
    if (one.order.split_k > 1) text += "/" + std::to_string(one.order.split_k);
  }
  return text;
}

constexpr Instance small = kernel<MatmulConfig{.tiling = {.m = 64}}>("small");
constexpr Instance few = kernel<MatmulConfig{.tiling = {.m = 64, .loaded_rows = 16}}>("few");
constexpr Instance large = kernel<MatmulConfig{}>("large");
constexpr Instance wide = kernel<MatmulConfig{.tiling = {.n = 128}}>("wide");
constexpr Instance parts = kernel<MatmulConfig{.split = Split::Parts}>("parts");
constexpr Instance turns = kernel<MatmulConfig{.consumers = Consumers::PingPong}>("turns");

}  // namespace

TEST(Shortlist, HasTheCheapestAndTheBestOfEachKind) {
  const std::vector<LaunchChoice> all = {
      {&wide, {}, 11}, {&turns, {}, 29}, {&few, {}, 31}, {&large, {}, 10}, {&small, {}, 12}};
  EXPECT_EQ(names(shortlist(all, 2)), "large wide small turns");
  EXPECT_EQ(names(shortlist(all, 1)), "large small turns");
  EXPECT_EQ(names(shortlist(all, 9)), "large wide small turns few");
}

TEST(Shortlist, OrdersOfOneKernelDoNotCrowdOutTheOthers) {
  const std::vector<LaunchChoice> all = {{&parts, {.split_k = 2}, 10},
                                         {&parts, {.split_k = 3}, 9},
                                         {&parts, {.split_k = 4}, 11},
                                         {&large, {}, 12}};
  EXPECT_EQ(names(shortlist(all, 3)), "parts/3 parts/2 large");
}

TEST(Shortlist, OfNothingIsEmpty) {
  EXPECT_TRUE(shortlist(std::vector<LaunchChoice>{}, 3).empty());
}

}  // namespace tw
