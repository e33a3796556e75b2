// The functions that serve all families: which family a problem is of, and what is said where that
// is unknown, or is not that of a plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tilewright.h"

namespace tw::tests {
namespace {

alignas(256) unsigned char families_memory[8192];

void expect_refused(tw_status status, const std::string& sentence) {
  EXPECT_EQ(status, TW_INVALID);
  EXPECT_EQ(tw_message(), sentence);
}

tw_quantise_problem sound_quantise() {
  tw_quantise_problem problem;
  EXPECT_EQ(tw_init("quantise", &problem, sizeof problem, nullptr), TW_OK);
  problem.m = 4;
  problem.k = 16;
  problem.source = {families_memory, 16, 1, 0, TW_BF16};
  problem.elements = {families_memory + 1024, 16, 1, 0, TW_E4M3};
  problem.scales = {families_memory + 2048, 1, 1, 0, TW_FP32};
  return problem;
}

tw_matmul_problem sound_matmul() {
  tw_matmul_problem problem;
  tw_matmul_init(&problem, nullptr);
  problem.m = 4;
  problem.n = 8;
  problem.k = 16;
  problem.a = {families_memory, 16, 1, 0, TW_BF16};
  problem.b = {families_memory + 1024, 1, 16, 0, TW_BF16};
  problem.d = {families_memory + 2048, 8, 1, 0, TW_BF16};
  return problem;
}

TEST(Families, AreInitialisedByName) {
  tw_quantise_problem named, typed;
  std::memset(&named, 0xA5, sizeof named);
  std::memset(&typed, 0x5A, sizeof typed);
  EXPECT_EQ(tw_init("quantise", &named, sizeof named, nullptr), TW_OK);
  tw_quantise_init(&typed, nullptr);
  EXPECT_EQ(std::memcmp(&named, &typed, sizeof named), 0);
  EXPECT_EQ(named.size, sizeof named);
  EXPECT_GT(named.family, 0u);
  EXPECT_EQ(named.scale_rows, 1);
  EXPECT_NE(named.family, sound_matmul().family);
}

// Leaves `byte` where the functions that are called next have theirs.
__attribute__((noinline)) void soil_stack(unsigned char byte) {
  unsigned char soiled[16384];
  std::memset(soiled, byte, sizeof soiled);
  asm volatile("" : : "r"(soiled) : "memory");
}

// Bytes between fields and behind them, too: callers may compare structs, and keep them by hash.
TEST(Families, EveryByteIsInitialised) {
  const auto all = nlohmann::json::parse(tw_describe(nullptr));
  for (const std::string name : all.at("families")) {
    const std::size_t bytes = nlohmann::json::parse(tw_describe(name.c_str())).at("bytes");
    std::vector<char> first(bytes, '\xA5'), second(bytes, '\x5A');
    tw_options options[2];
    std::memset(options, 0xA5, sizeof options[0]);
    std::memset(options + 1, 0x5A, sizeof options[1]);
    soil_stack(0xA5);
    EXPECT_EQ(tw_init(name.c_str(), first.data(), bytes, &options[0]), TW_OK);
    soil_stack(0x5A);
    EXPECT_EQ(tw_init(name.c_str(), second.data(), bytes, &options[1]), TW_OK);
    EXPECT_EQ(first, second) << name;
    EXPECT_EQ(std::memcmp(options, options + 1, sizeof options[0]), 0) << name;
  }
}

TEST(Families, AnUnknownOneIsRefused) {
  tw_matmul_problem problem = sound_matmul();
  const tw_status status = tw_init("attend", &problem, sizeof problem, nullptr);
  EXPECT_EQ(status, TW_INVALID);
  EXPECT_EQ(std::string(tw_message()).rfind("There is no family 'attend'; there are ", 0), 0u);
  expect_refused(tw_init(nullptr, &problem, sizeof problem, nullptr),
                 "The name of the family is null.");
  problem = sound_matmul();
  problem.family = 1000;
  EXPECT_EQ(tw_supported(&problem, nullptr), TW_INVALID);
  EXPECT_EQ(std::string(tw_message()).rfind("The family of the problem is 1000, but must be", 0),
            0u);
  EXPECT_EQ(tw_simulate(&problem, nullptr), TW_INVALID);
  problem.family = 0;
  EXPECT_EQ(tw_run(&problem, nullptr, nullptr, 0, nullptr), TW_INVALID);
}

TEST(Families, AStructOfAnotherSizeIsZeroedAndRefused) {
  struct {
    tw_quantise_problem problem;
    unsigned char behind[8];
  } given;
  std::memset(&given, 0xA5, sizeof given);
  expect_refused(tw_init("quantise", &given, sizeof given.problem - 8, nullptr),
                 "A problem of quantise has " + std::to_string(sizeof given.problem) +
                     " bytes, but is given " + std::to_string(sizeof given.problem - 8) + ".");
  EXPECT_EQ(given.problem.family, 0u);
  EXPECT_EQ(given.behind[0], 0xA5);
  EXPECT_EQ(tw_supported(&given, nullptr), TW_INVALID);
}

// What tw_describe says lies where tw_init writes it.
TEST(Families, AreDescribedAsTheyAreInitialised) {
  const auto all = nlohmann::json::parse(tw_describe(nullptr));
  ASSERT_GE(all.at("families").size(), 5u);
  std::size_t num_described = 0;
  for (const std::string name : all.at("families")) {
    const auto family = nlohmann::json::parse(tw_describe(name.c_str()));
    const std::size_t bytes = family.at("bytes");
    EXPECT_EQ(all.at("structs").at(family.at("problem")).at("bytes"), bytes) << name;
    std::vector<char> problem(bytes);
    ASSERT_EQ(tw_init(name.c_str(), problem.data(), bytes, nullptr), TW_OK) << tw_message();
    if (!family.contains("numbers")) continue;
    ++num_described;
    for (const auto& number : family.at("numbers")) {
      const auto& field = number.at("field");
      ASSERT_FALSE(field.is_null()) << name << ": " << number.at("name");
      std::int64_t wide = 0;
      std::int32_t narrow = 0;
      std::memcpy(&wide, problem.data() + std::size_t{field.at("offset")}, 8);
      std::memcpy(&narrow, problem.data() + std::size_t{field.at("offset")}, 4);
      EXPECT_EQ(field.at("type") == "int64_t" ? wide : narrow, number.at("initial"))
          << name << ": " << number.at("name");
    }
    for (const auto& tensor : family.at("tensors")) {
      const auto& data = tensor.at("fields").at("data");
      EXPECT_EQ(data.at("type"), "address") << name << ": " << tensor.at("name");
      EXPECT_LE(std::size_t{data.at("offset")} + 8, bytes);
      EXPECT_FALSE(tensor.at("types").empty());
    }
  }
  EXPECT_GE(num_described, 2u);
  EXPECT_EQ(tw_describe("attend"), nullptr);
  EXPECT_EQ(std::string(tw_message()).rfind("There is no family 'attend'; there are ", 0), 0u);
  EXPECT_EQ(tw_describe(nullptr), tw_describe(nullptr));
}

// Whoever makes problems of arrays compares these with their shapes.
TEST(Families, TellTheExtentsOfAProblem) {
  tw_quantise_problem problem = sound_quantise();
  problem.m = 130, problem.k = 300, problem.batch = 2, problem.scale_rows = 128;
  std::int64_t extents[9] = {};
  ASSERT_EQ(tw_extents(extents, 3, &problem), TW_OK) << tw_message();
  const std::int64_t expected[] = {2, 130, 300, 2, 130, 300, 2, 2, 3};
  EXPECT_TRUE(std::equal(std::begin(extents), std::end(extents), expected));
  expect_refused(tw_extents(extents, 2, &problem),
                 "quantise has 3 tensors, but there is room for 2.");
  expect_refused(tw_extents(nullptr, 3, &problem), "The address for the extents is null.");
  problem.m = -1;
  expect_refused(tw_extents(extents, 3, &problem),
                 "m = -1 must be at least 0 and below 2^31 - 256.");
  problem.size = 8;
  EXPECT_EQ(tw_extents(extents, 3, &problem), TW_INVALID);
  EXPECT_EQ(tw_extents(extents, 3, nullptr), TW_INVALID);
}

TEST(Families, APlanTakesProblemsOfItsOwn) {
  const tw_quantise_problem quantise = sound_quantise();
  const tw_matmul_problem matmul = sound_matmul();
  tw_plan* plan = nullptr;
  ASSERT_EQ(tw_plan_create(&plan, &quantise, nullptr), TW_OK) << tw_message();
  EXPECT_EQ(tw_plan_run(plan, &quantise, nullptr, 0, nullptr), TW_OK) << tw_message();
  expect_refused(tw_plan_run(plan, &matmul, nullptr, 0, nullptr),
                 "The problem is one of matmul, but the plan was made for one of quantise.");
  expect_refused(tw_plan_run(nullptr, &matmul, nullptr, 0, nullptr), "The plan is null.");
  expect_refused(tw_plan_run(plan, nullptr, nullptr, 0, nullptr), "The problem is null.");
  EXPECT_EQ(std::string(tw_plan_command(plan)).rfind("./tw run quantise ", 0), 0u);
  tw_plan_destroy(plan);
  EXPECT_STREQ(tw_plan_command(nullptr), "");
  EXPECT_EQ(tw_plan_workspace_size(nullptr), 0u);
  tw_plan_destroy(nullptr);
}

}  // namespace
}  // namespace tw::tests
