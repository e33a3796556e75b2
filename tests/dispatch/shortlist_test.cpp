// Made-up launches: what they cost is said, not computed.
#include "src/dispatch/shortlist.h"

#include <gtest/gtest.h>

namespace tw {

namespace {

struct Kernel {
  const char* name;
  MatmulConfig config;
};

std::string names(const std::vector<LaunchChoice<Kernel>>& launches) {
  std::string text;
  for (const LaunchChoice<Kernel>& one : launches) {
    text += std::string(text.empty() ? "" : " ") + one.instance->name;
    if (one.order.split_k > 1) text += "/" + std::to_string(one.order.split_k);
  }
  return text;
}

constexpr Kernel small = {"small", {.tiling = {.m = 64}}};
constexpr Kernel few = {"few", {.tiling = {.m = 64, .loaded_rows = 16}}};
constexpr Kernel large = {"large", {}};
constexpr Kernel wide = {"wide", {.tiling = {.n = 128}}};
constexpr Kernel parts = {"parts", {.split = Split::Parts}};
constexpr Kernel turns = {"turns", {.consumers = Consumers::PingPong}};

}  // namespace

TEST(Shortlist, HasTheCheapestAndTheBestOfEachKind) {
  const std::vector<LaunchChoice<Kernel>> all = {
      {&wide, {}, 11}, {&turns, {}, 29}, {&few, {}, 31}, {&large, {}, 10}, {&small, {}, 12}};
  EXPECT_EQ(names(shortlist(all, 2)), "large wide small turns");
  EXPECT_EQ(names(shortlist(all, 1)), "large small turns");
  EXPECT_EQ(names(shortlist(all, 9)), "large wide small turns few");
}

TEST(Shortlist, OrdersOfOneKernelDoNotCrowdOutTheOthers) {
  const std::vector<LaunchChoice<Kernel>> all = {{&parts, {.split_k = 2}, 10},
                                                 {&parts, {.split_k = 3}, 9},
                                                 {&parts, {.split_k = 4}, 11},
                                                 {&large, {}, 12}};
  EXPECT_EQ(names(shortlist(all, 3)), "parts/3 parts/2 large");
}

TEST(Shortlist, OfNothingIsEmpty) {
  EXPECT_TRUE(shortlist(std::vector<LaunchChoice<Kernel>>{}, 3).empty());
}

}  // namespace tw
