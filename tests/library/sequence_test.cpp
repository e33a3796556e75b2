// Problems one behind the other: what is launched, what is refused, and that a refusal launches
// nothing.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/library/stand_in.h"
#include "tilewright.hpp"
#include "tilewright/launch/kernel_problem.h"

namespace tw::tests {
namespace {

class Sequence : public ::testing::Test {
 protected:
  void SetUp() override {
    stand_in() = {};
    // Each test has an m of its own, so that none finds another's decisions.
    static std::int64_t next = 4000;
    next += 8;
    set(first, next, TW_BF16, input, middle);
    set(second, next, TW_FP16, middle, output);  // its kernel needs a workspace
    ASSERT_EQ(tw_init("matmul", nullptr, 0, &options), TW_OK);
  }
  void TearDown() override { tw_sequence_destroy(sequence); }

  static void set(tw_matmul_problem& problem, std::int64_t m, tw_type type, void* a, void* d) {
    tw_matmul_init(&problem, nullptr);
    problem.m = m, problem.n = 64, problem.k = 2048;
    problem.a = {a, 2048, 1, 0, type};
    problem.b = {weights, 1, 2048, 0, type};
    problem.d = {d, 64, 1, 0, TW_BF16};
  }
  void create() {
    ASSERT_EQ(tw_sequence_create(&sequence, problems, 2, &options), TW_OK) << tw_message();
    stand_in().events.clear();
  }
  tw_status run(void* workspace = room, std::size_t bytes = sizeof room) {
    return tw_sequence_run(sequence, problems, 2, workspace, bytes, stream);
  }
  std::vector<Event> launches() {
    std::vector<Event> found;
    for (const Event& event : stand_in().events) {
      if (event.kind == Event::Launch) found.push_back(event);
    }
    return found;
  }
  void expect_refused(tw_status status, const std::string& sentence, tw_status kind = TW_INVALID) {
    EXPECT_EQ(status, kind);
    EXPECT_EQ(tw_message(), sentence);
    EXPECT_TRUE(launches().empty());
  }

  alignas(256) static inline unsigned char input[32 << 20], weights[1 << 20], middle[32 << 20],
      output[16 << 20], room[split_workspace_bytes + 256];
  void* stream = input + 128;
  tw_matmul_problem first, second;
  const void* problems[2] = {&first, &second};
  tw_options options;
  tw_sequence* sequence = nullptr;
};

TEST_F(Sequence, LaunchesInOrderWhatPlansDo) {
  create();
  EXPECT_EQ(tw_sequence_workspace_size(sequence), split_workspace_bytes);
  ASSERT_EQ(run(), TW_OK) << tw_message();
  const auto together = launches();
  ASSERT_EQ(together.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    tw_plan* plan = nullptr;
    ASSERT_EQ(tw_plan_create(&plan, problems[i], &options), TW_OK) << tw_message();
    stand_in().events.clear();
    ASSERT_EQ(tw_plan_run(plan, problems[i], room, sizeof room, stream), TW_OK);
    tw_plan_destroy(plan);
    const Event alone = launches().at(0), &one = together[static_cast<std::size_t>(i)];
    EXPECT_EQ(one.instance, alone.instance);
    EXPECT_EQ(one.stream, stream);
    EXPECT_EQ(one.memory, room);
    EXPECT_EQ(one.problem.a.data, alone.problem.a.data);
    EXPECT_EQ(one.problem.d.data, alone.problem.d.data);
  }
  EXPECT_STREQ(together[0].instance->name, "whole");
  EXPECT_STREQ(together[1].instance->name, "split");
}

TEST_F(Sequence, IsCheckedAndDecidedOnce) {
  create();
  ASSERT_EQ(run(), TW_OK) << tw_message();
  first.a.data = input + 1024;  // aligned alike
  ASSERT_EQ(run(), TW_OK) << tw_message();
  EXPECT_EQ(stand_in().count(Event::Supports), 0);
  EXPECT_EQ(launches().at(2).problem.a.data, input + 1024);
  std::thread([this] { EXPECT_EQ(run(), TW_OK) << tw_message(); }).join();
  EXPECT_EQ(stand_in().count(Event::Supports), 0);
}

// One problem may come twice, and plans of both are the same.
TEST_F(Sequence, MayRepeatAProblem) {
  problems[1] = &first;
  create();
  ASSERT_EQ(run(nullptr, 0), TW_OK) << tw_message();
  EXPECT_EQ(launches().size(), 2u);
}

// The counters of each are cleared where the workspace may hold anything, and no others.
TEST_F(Sequence, ClearsWhatAKernelCounts) {
  create();
  ASSERT_EQ(run(), TW_OK);
  EXPECT_EQ(stand_in().count(Event::Clear), 1);
  tw_sequence_destroy(sequence);
  options.workspace_is_ready = 1;
  create();
  ASSERT_EQ(run(), TW_OK);
  EXPECT_EQ(stand_in().count(Event::Clear), 0);
}

// The last one is refused, and the first was not launched.
TEST_F(Sequence, LaunchesNothingWhereOneIsRefused) {
  create();
  second.m += 1;
  EXPECT_EQ(run(), TW_INVALID);
  EXPECT_EQ(std::string(tw_message()).substr(0, 16), "Problem 2 of 2: ") << tw_message();
  EXPECT_TRUE(launches().empty());
  second.m -= 1;
  second.d.data = second.a.data;
  expect_refused(run(), "Problem 2 of 2: D begins where A does, but must have memory of its own.");
  second.d.data = output;
  expect_refused(run(room, split_workspace_bytes - 1),
                 "The workspace has 99999 bytes, but this call needs 100000.", TW_WORKSPACE);
  expect_refused(run(room + 8), "The workspace begins 8 bytes beyond a multiple of 256, but must "
                                "be aligned to 256 bytes.", TW_WORKSPACE);
  for (const std::size_t count : {0, 1, 3}) {
    expect_refused(tw_sequence_run(sequence, problems, count, room, sizeof room, stream),
                   std::to_string(count) +
                       " problems are given, but the sequence was made of 2.");
  }
  problems[1] = nullptr;
  expect_refused(run(), "Problem 2 of 2: The problem is null.");
  problems[1] = &second;
  ASSERT_EQ(run(), TW_OK) << tw_message();
  EXPECT_EQ(launches().size(), 2u);
}

// The virtual GPU has the first one's kernel, and not the second's.
TEST_F(Sequence, SimulatesNothingWhereOneIsRefused) {
  stand_in().simulates = true;
  EXPECT_EQ(tw_sequence_simulate(problems, 1, &options), TW_OK) << tw_message();
  EXPECT_EQ(stand_in().count(Event::Simulate), 1);
  stand_in().events.clear();
  expect_refused(tw_sequence_simulate(problems, 2, &options),
                 "Problem 2 of 2: This library has no virtual GPU: the compiled Boost.Context was "
                 "not found when it was configured.", TW_UNSUPPORTED);
  EXPECT_EQ(stand_in().count(Event::Simulate), 0);
}

TEST_F(Sequence, FromCpp) {
  const tw::Sequence both(&options, first, second);
  EXPECT_EQ(both.workspace_size(), split_workspace_bytes);
  stand_in().events.clear();
  both.run({room, sizeof room}, stream, first, second);
  EXPECT_EQ(launches().size(), 2u);
  EXPECT_EQ(launches().at(1).problem.d.data, output);
  EXPECT_THROW(both.run({room, sizeof room}, stream, first), tw::Error);
  EXPECT_THROW(tw::Sequence(&options, first, tw_matmul_problem{}), tw::Error);
}

TEST_F(Sequence, SaysWhereCudaFailed) {
  create();
  stand_in().launch_fails = true;
  EXPECT_EQ(run(), TW_CUDA);
  EXPECT_EQ(std::string(tw_message()).substr(0, 16), "Problem 1 of 2: ") << tw_message();
}

TEST_F(Sequence, IsNotMadeOfWhatIsRefused) {
  sequence = reinterpret_cast<tw_sequence*>(room);
  second.n = -1;
  EXPECT_EQ(tw_sequence_create(&sequence, problems, 2, nullptr), TW_INVALID);
  EXPECT_EQ(std::string(tw_message()).substr(0, 16), "Problem 2 of 2: ") << tw_message();
  EXPECT_EQ(sequence, nullptr);
  expect_refused(tw_sequence_create(nullptr, problems, 2, nullptr),
                 "The address for the sequence is null.");
  expect_refused(tw_sequence_create(&sequence, nullptr, 2, nullptr),
                 "The address of the problems is null.");
  for (const std::size_t count : {std::size_t{0}, std::size_t{4097}, SIZE_MAX}) {
    const std::string sentence = "A sequence of " + std::to_string(count) +
                                 " problems is given, but one has at least 1 and at most 4096.";
    expect_refused(tw_sequence_create(&sequence, problems, count, nullptr), sentence);
    expect_refused(tw_sequence_simulate(problems, count, nullptr), sentence);
  }
  expect_refused(tw_sequence_run(nullptr, problems, 2, nullptr, 0, nullptr),
                 "The sequence is null.");
  expect_refused(tw_sequence_simulate(nullptr, 2, nullptr), "The address of the problems is null.");
  EXPECT_EQ(tw_sequence_workspace_size(nullptr), 0u);
}

}  // namespace
}  // namespace tw::tests
