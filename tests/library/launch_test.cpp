// What the library does around a launch: choice, memory of it, workspace, plans.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "src/dispatch/choose_launch.h"
#include "src/library/calls.h"
#include "src/library/copier.h"
#include "src/library/described.h"
#include "src/library/failure.h"
#include "tests/library/stand_in.h"
#include "tilewright.hpp"
#include "tilewright/family/matmul/family.h"
#include "tilewright/launch/kernel_problem.h"

namespace tw::tests {
namespace {

class Launch : public ::testing::Test {
 protected:
  void SetUp() override {
    stand_in() = {};
    tw_matmul_init(&problem, &options);
    // Each test has an m of its own, so that none finds another's decisions.
    static std::int64_t next = 64;
    problem.m = next += 8;
    problem.n = 40;
    problem.k = 2048;
    problem.a = {memory, 2048, 1, 0, TW_BF16};
    problem.b = {memory, 1, 2048, 0, TW_BF16};
    problem.d = {output, 40, 1, 0, TW_BF16};
  }
  void use_split() { problem.a.type = problem.b.type = TW_FP16; }
  tw_status call(void* workspace = nullptr, std::size_t bytes = 0) {
    return tw_matmul(&problem, &options, workspace, bytes, stream);
  }
  const Event& last() { return stand_in().events.back(); }
  std::string sentence() { return tw_message(); }

  // What is read, and what is written.
  alignas(256) static inline unsigned char memory[1 << 20];
  alignas(256) static inline unsigned char output[2 << 20];
  alignas(256) unsigned char room[split_workspace_bytes + 256] = {};
  void* stream = memory + 128;
  tw_matmul_problem problem;
  tw_matmul_options options;
};

// Copies that were asked for: the lines of the last one, and where they went.
struct Copied {
  int launched = 0;
  TensorLines to, from;
  void* stream = nullptr;
};
Copied copied;
constexpr library::Copier recording = {
    [](const TensorLines&, const TensorLines&, const char*) { return Status::good(); },
    [](const TensorLines& to, const TensorLines& from, const char*, void* stream) {
      copied = {copied.launched + 1, to, from, stream};
      return Status::good();
    },
    nullptr};
class CopiedFirst : public Launch {
 protected:
  void SetUp() override {
    Launch::SetUp();
    copied = {};
    before_ = library::copier();
    library::copier() = &recording;
    stand_in().wants_alignment = true;
    problem.k = 1001;
    problem.a = {memory, 1001, 1, 0, TW_BF16};
    problem.b = {memory, 1, 1008, 0, TW_BF16};
  }
  void TearDown() override { library::copier() = before_; }

 private:
  const library::Copier* before_ = nullptr;
};

// A alone begins anywhere: its copy lies at the workspace's end, behind the counters.
TEST_F(CopiedFirst, AndThenMultiplied) {
  std::size_t needed = 0;
  ASSERT_EQ(tw_matmul_workspace_size(&needed, &problem, &options), TW_OK) << tw_message();
  const auto rows = static_cast<std::size_t>(problem.m);
  EXPECT_EQ(needed, workspace_counter_bytes + rows * 1024 * 2);
  // In memory that nothing reads: more than is needed, and no multiple of 256.
  const std::size_t given = needed + 700;
  unsigned char* const workspace = output + (1 << 20);
  ASSERT_EQ(call(workspace, given), TW_OK) << tw_message();
  ASSERT_EQ(copied.launched, 1);
  EXPECT_EQ(copied.stream, stream);
  EXPECT_EQ(copied.from.data, memory);
  EXPECT_EQ(copied.from.pitch, 1001);
  EXPECT_EQ(copied.to.length, 1001);
  EXPECT_EQ(copied.to.lines, problem.m);
  EXPECT_EQ(copied.to.pitch, 1024);
  auto* const to = static_cast<unsigned char*>(copied.to.data);
  EXPECT_EQ((to - workspace) % 256, 0);
  EXPECT_GE(to, workspace + workspace_counter_bytes);
  EXPECT_LE(to + rows * 2048, workspace + given);
  EXPECT_EQ(stand_in().count(Event::Clear), 0);  // the kernel has no counters
  ASSERT_EQ(last().kind, Event::Launch);
  EXPECT_EQ(last().problem.a.data, to);
  EXPECT_EQ(last().problem.a.pitch, 1024);
  EXPECT_EQ(last().problem.b.data, memory);
  EXPECT_EQ(last().memory, workspace);
  EXPECT_LE(workspace + last().bytes, to);
}

TEST_F(CopiedFirst, WhereThereIsRoom) {
  options.workspace_limit =
      workspace_counter_bytes + static_cast<std::size_t>(problem.m) * 2048 - 1;
  EXPECT_EQ(call(), TW_UNSUPPORTED);
  EXPECT_NE(sentence().find("begin at multiples of 16 bytes"), std::string::npos) << sentence();
  EXPECT_EQ(copied.launched, 0);
}

TEST_F(Launch, TheProblemArrives) {
  problem.batch = 3;
  problem.a.batch_stride = 100'000;
  problem.d.batch_stride = 200'000;
  problem.d.row_stride = 48;
  problem.epilogue.amax = reinterpret_cast<float*>(output + sizeof output - 4);
  ASSERT_EQ(call(), TW_OK) << tw_message();
  ASSERT_EQ(last().kind, Event::Launch);
  EXPECT_EQ(last().stream, stream);
  EXPECT_STREQ(last().instance->name, "whole");
  const MatmulProblem& arrived = last().problem;
  EXPECT_EQ(arrived.m, problem.m);
  EXPECT_EQ(arrived.n, 40);
  EXPECT_EQ(arrived.k, 2048);
  EXPECT_EQ(arrived.batch, 3);
  EXPECT_EQ(arrived.a.pitch, 2048);
  EXPECT_EQ(arrived.a.batch_pitch, 100'000);
  EXPECT_EQ(arrived.a.major, Major::K);
  EXPECT_EQ(arrived.b.pitch, 2048);
  EXPECT_EQ(arrived.b.batch_pitch, 0);
  EXPECT_EQ(arrived.b.major, Major::K);
  EXPECT_EQ(arrived.d.pitch, 48);
  EXPECT_EQ(arrived.d.batch_pitch, 200'000);
  EXPECT_EQ(static_cast<void*>(arrived.epilogue.amax), output + sizeof output - 4);
}

// Row-major B (k by n) is MN-major for the kernels, whose B is n by k.
TEST_F(Launch, RowMajorBIsReadByRows) {
  problem.b = {memory, 40, 1, 0, TW_BF16};
  ASSERT_EQ(call(), TW_OK) << tw_message();
  EXPECT_STREQ(last().instance->name, "rows");
  EXPECT_EQ(last().problem.b.major, Major::MN);
  EXPECT_EQ(last().problem.b.pitch, 40);
}

TEST_F(Launch, AWarmCallAsksNobody) {
  ASSERT_EQ(call(), TW_OK);
  EXPECT_GT(stand_in().count(Event::Supports), 0);
  stand_in().events.clear();
  problem.a.data = memory + 16;  // aligned alike
  ASSERT_EQ(call(), TW_OK);
  EXPECT_EQ(stand_in().count(Event::Supports), 0);
  EXPECT_EQ(last().problem.a.data, memory + 16);
  std::thread([this] { EXPECT_EQ(call(), TW_OK); }).join();
  EXPECT_EQ(stand_in().count(Event::Supports), 0);
  problem.a.data = memory + 2;  // not aligned alike
  ASSERT_EQ(call(), TW_OK);
  EXPECT_GT(stand_in().count(Event::Supports), 0);
}

// A call that comes again is not checked again; one that differs in any byte is.
TEST_F(Launch, OnlyTheSameBytesAreTheSameCall) {
  ASSERT_EQ(call(), TW_OK) << tw_message();
  void* const d = problem.d.data;
  problem.d.data = problem.a.data;
  EXPECT_EQ(call(), TW_INVALID);
  EXPECT_EQ(call(), TW_INVALID);
  problem.d.data = d;
  ASSERT_EQ(call(), TW_OK) << tw_message();
  problem.epilogue.alpha = 0.25f;
  ASSERT_EQ(call(), TW_OK) << tw_message();
  EXPECT_EQ(last().problem.epilogue.alpha, 0.25f);
  problem.size -= 8;
  EXPECT_EQ(call(), TW_INVALID);
  problem.size += 8;
  tw_matmul_problem elsewhere = problem;  // the caller's struct may be gone before the next call
  ASSERT_EQ(tw_matmul(&elsewhere, &options, nullptr, 0, stream), TW_OK) << tw_message();
  std::memset(static_cast<void*>(&elsewhere), 0xff, sizeof elsewhere);
  ASSERT_EQ(call(), TW_OK) << tw_message();
  EXPECT_EQ(last().problem.m, problem.m);
  // A name is its letters.
  char name[] = "whole";
  options.instance = name;
  ASSERT_EQ(call(), TW_OK) << tw_message();
  std::strcpy(name, "what?");
  EXPECT_EQ(call(), TW_INVALID);
}

// Products that count how often they are checked.
struct CountedProduct : MatmulFamily {
  static inline int checks = 0;
  static constexpr Rule rules[] = {rule(
      [](const tw_matmul_problem&) {
        ++checks;
        return true;
      },
      [](const tw_matmul_problem&) { return std::string(); })};
  static constexpr Description description = [] {
    Description counted = MatmulFamily::description;
    counted.rules = rules;
    return counted;
  }();
};
constexpr library::Family counted_products = {
    &CountedProduct::description, matmul_instances, {candidates, choose}};
const library::Registered registered_counted(counted_products);

// With other addresses, a call is asked only what depends on them.
TEST_F(Launch, OtherAddressesAreNotCheckedAgain) {
  const auto run = [this] { library::run(counted_products, &problem, &options, {}, stream); };
  auto* const numbers = reinterpret_cast<float*>(memory);
  tw_epilogue& epilogue = problem.epilogue;
  epilogue.beta = 1.0f;
  epilogue.source = {output + (1 << 19), 40, 1, 0, TW_BF16};
  epilogue.auxiliary = {output + (1 << 20), 40, 1, 0, TW_BF16};
  epilogue.column_bias = epilogue.row_bias = epilogue.column_scale = epilogue.row_scale = numbers;
  epilogue.amax = reinterpret_cast<float*>(output + sizeof output - 64);
  CountedProduct::checks = 0;
  run();
  EXPECT_EQ(CountedProduct::checks, 1);

  problem.a.data = memory + 32;
  problem.b.data = memory + 64;
  problem.d.data = output + 96;
  epilogue.source.data = output + (1 << 19) + 128;
  epilogue.auxiliary.data = output + (1 << 20) + 32;
  epilogue.column_bias = numbers + 4;
  epilogue.row_bias = numbers + 8;
  epilogue.column_scale = numbers + 12;
  epilogue.row_scale = numbers + 16;
  epilogue.amax += 4;
  run();
  EXPECT_EQ(CountedProduct::checks, 1);
  const MatmulProblem& arrived = last().problem;
  EXPECT_EQ(arrived.a.data, memory + 32);
  EXPECT_EQ(arrived.b.data, memory + 64);
  EXPECT_EQ(arrived.d.data, output + 96);
  EXPECT_EQ(arrived.epilogue.source, output + (1 << 19) + 128);
  EXPECT_EQ(arrived.epilogue.auxiliary, output + (1 << 20) + 32);
  EXPECT_EQ(arrived.epilogue.column_bias, numbers + 4);
  EXPECT_EQ(arrived.epilogue.row_bias, numbers + 8);
  EXPECT_EQ(arrived.epilogue.column_scale, numbers + 12);
  EXPECT_EQ(arrived.epilogue.row_scale, numbers + 16);
  EXPECT_EQ(static_cast<void*>(arrived.epilogue.amax), epilogue.amax);

  // Memory that overlaps is seen, and what was refused is not taken for known.
  const auto expect_refusal = [&](const std::string& sentence) {
    for (int twice = 0; twice < 2; ++twice) {
      try {
        run();
        ADD_FAILURE() << "Taken: " << sentence;
      } catch (const library::Failure& failure) {
        EXPECT_EQ(failure.sentence, sentence);
      }
    }
  };
  problem.d.data = epilogue.source.data;  // in place
  run();
  EXPECT_EQ(CountedProduct::checks, 1);
  problem.d.data = output + (1 << 19) + 160;
  expect_refusal(
      "D begins 32 bytes behind the source and overlaps it, but must have memory of its own.");
  problem.d.data = output;
  run();
  // Whatever else differs is checked: alignment, presence, and numbers that no kernel depends on.
  const auto expect_check = [&] {
    const int before = CountedProduct::checks;
    run();
    EXPECT_EQ(CountedProduct::checks, before + 1);
    run();
    EXPECT_EQ(CountedProduct::checks, before + 1);
  };
  epilogue.alpha = 0.5f;
  expect_check();
  epilogue.row_scale = nullptr;
  expect_check();
  problem.a.data = memory + 2;
  expect_check();
  problem.a.data = memory + 1;
  expect_refusal("The address of A is not a multiple of 2 bytes, its element's size.");
  problem.a.data = memory + 16;
  epilogue.row_bias = memory + 1;
  expect_refusal("The address of the row bias is not a multiple of 2 bytes, its element's size.");
}

// Plans and calls of the same problem remember the same bytes, and nothing of each other's choices.
TEST_F(Launch, APlanAndACallTakeTurns) {
  tw_matmul_plan* plan = nullptr;
  ASSERT_EQ(tw_matmul_plan_create(&plan, &problem, &options), TW_OK) << tw_message();
  const auto run = [&] { return tw_matmul_plan_run(plan, &problem, nullptr, 0, stream); };
  const std::int64_t k = problem.k;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run(), TW_OK) << tw_message();
    EXPECT_EQ(call(), TW_OK) << tw_message();
    problem.k = k - 48;
    EXPECT_EQ(call(), TW_OK) << tw_message();
    EXPECT_EQ(run(), TW_INVALID);
    EXPECT_EQ(sentence(), "k is 2000, but the plan was made for 2048.");
    EXPECT_EQ(call(), TW_OK) << tw_message();
    problem.k = k;
  }
  tw_matmul_plan_destroy(plan);
}

// Whatever the choice may depend on is asked for anew.
TEST_F(Launch, OtherProblemsAreDecidedAnew) {
  const auto decisions_after = [this](auto change) {
    const tw_matmul_problem before = problem;
    const tw_matmul_options options_before = options;
    stand_in().events.clear();
    change();
    EXPECT_EQ(call(), TW_OK) << tw_message();
    problem = before;
    options = options_before;
    return stand_in().count(Event::Supports) > 0;
  };
  EXPECT_TRUE(decisions_after([] {}));
  EXPECT_FALSE(decisions_after([] {}));
  EXPECT_TRUE(decisions_after([this] { problem.k = 2000; }));
  EXPECT_TRUE(decisions_after([this] { problem.a.row_stride = 4096; }));
  EXPECT_TRUE(decisions_after([this] { problem.d.row_stride = 48; }));
  EXPECT_TRUE(decisions_after([this] { problem.d.data = output + 2; }));
  EXPECT_TRUE(decisions_after([this] { problem.epilogue.activation = TW_GELU; }));
  EXPECT_TRUE(decisions_after([this] { problem.epilogue.alpha = 0.0f; }));
  EXPECT_FALSE(decisions_after([this] { problem.epilogue.alpha = 0.5f; }));
  EXPECT_TRUE(decisions_after([this] { problem.epilogue.row_bias = memory; }));
  EXPECT_TRUE(decisions_after([this] { options.batch_invariant = 1; }));
  EXPECT_TRUE(decisions_after([this] { options.fast_accumulation = 0; }));
  EXPECT_TRUE(decisions_after([this] { options.workspace_limit = 1; }));
  EXPECT_TRUE(decisions_after([this] { options.instance = "whole"; }));
  EXPECT_TRUE(decisions_after([] { stand_in().device = 1; }));
  EXPECT_FALSE(decisions_after([] {}));
}

// More shapes than are remembered: old decisions make room.
TEST_F(Launch, ManyShapesAreDecidedWithoutEnd) {
  stand_in().records = false;
  for (problem.n = 8; problem.n < 8 + 5000; ++problem.n) {
    problem.d.row_stride = problem.n;
    ASSERT_EQ(call(), TW_OK);
  }
  stand_in().records = true;
  problem.n -= 1;
  ASSERT_EQ(call(), TW_OK);
  EXPECT_EQ(stand_in().count(Event::Supports), 0);
}

TEST_F(Launch, TheWorkspaceIsCheckedAndItsCountersCleared) {
  use_split();
  std::size_t needed = 0;
  ASSERT_EQ(tw_matmul_workspace_size(&needed, &problem, &options), TW_OK) << tw_message();
  EXPECT_EQ(needed, split_workspace_bytes);
  EXPECT_EQ(call(room, needed - 1), TW_WORKSPACE);
  EXPECT_EQ(sentence(), "The workspace has 99999 bytes, but this call needs 100000.");
  EXPECT_EQ(call(nullptr, needed), TW_WORKSPACE);
  EXPECT_EQ(sentence(), "The workspace has 100000 bytes at null, but this call needs 100000.");
  EXPECT_EQ(call(room + 64, needed), TW_WORKSPACE);
  EXPECT_EQ(sentence(),
            "The workspace begins 64 bytes beyond a multiple of 256, but must be aligned to 256 "
            "bytes.");
  EXPECT_EQ(stand_in().count(Event::Launch), 0);

  stand_in().events.clear();
  ASSERT_EQ(call(room, needed), TW_OK) << tw_message();
  ASSERT_EQ(stand_in().events.size(), 2u);
  EXPECT_EQ(stand_in().events[0].kind, Event::Clear);
  EXPECT_EQ(stand_in().events[0].memory, room);
  EXPECT_EQ(stand_in().events[0].bytes, workspace_counter_bytes);
  EXPECT_EQ(stand_in().events[0].stream, stream);
  EXPECT_EQ(last().kind, Event::Launch);
  EXPECT_EQ(last().memory, room);
  EXPECT_EQ(last().bytes, needed);
  EXPECT_GT(last().order.split_k, 1);

  stand_in().events.clear();
  options.workspace_is_ready = 1;
  ASSERT_EQ(call(room, needed), TW_OK) << tw_message();
  EXPECT_EQ(stand_in().count(Event::Clear), 0);
}

// A graph has no node that clears: kernels before and behind it may overlap.
TEST_F(Launch, ACapturedCallTakesTheCountersOfItsGraph) {
  use_split();
  std::uint64_t counters = 0;
  stand_in().counters_of_capture = &counters;
  ASSERT_EQ(call(room, split_workspace_bytes), TW_OK) << tw_message();
  EXPECT_EQ(stand_in().count(Event::Clear), 0);
  EXPECT_EQ(last().counters, &counters);
  EXPECT_EQ(last().memory, room);
  options.workspace_is_ready = 1;
  ASSERT_EQ(call(room, split_workspace_bytes), TW_OK) << tw_message();
  EXPECT_EQ(last().counters, room);
  stand_in().counters_of_capture = nullptr;
}

TEST_F(Launch, WithoutNeedTheWorkspaceIsNotLookedAt) {
  ASSERT_EQ(call(room + 1, 1), TW_OK) << tw_message();
  EXPECT_EQ(stand_in().count(Event::Clear), 0);
}

TEST_F(Launch, KernelsAboveTheLimitAreNotTaken) {
  use_split();
  options.workspace_limit = 99'999;
  EXPECT_EQ(tw_matmul_supported(&problem, &options), TW_UNSUPPORTED);
  EXPECT_NE(sentence().find("99999"), std::string::npos) << sentence();
}

// What a machine without a GPU can say of those that have one.
TEST_F(Launch, WithoutADeviceATargetIsAskedAbout) {
  stand_in().device = -1;
  EXPECT_EQ(tw_matmul_supported(&problem, &options), TW_CUDA);
  options.target = "sm90a";
  EXPECT_EQ(tw_matmul_supported(&problem, &options), TW_OK) << tw_message();
  options.target = "gfx950";
  EXPECT_EQ(tw_matmul_supported(&problem, &options), TW_UNSUPPORTED);
  EXPECT_NE(sentence().find(" on gfx950. "), std::string::npos) << sentence();
  options.target = "sm42";
  EXPECT_EQ(tw_matmul_supported(&problem, &options), TW_INVALID);
  EXPECT_EQ(sentence().rfind("There is no target 'sm42'; there are ", 0), 0u) << sentence();
  stand_in().device = 0;
  options.target = "gfx950";  // the device is asked about
  EXPECT_EQ(tw_matmul_supported(&problem, &options), TW_OK) << tw_message();
}

TEST_F(Launch, WhatCudaReportsIsTold) {
  stand_in().launch_fails = true;
  EXPECT_EQ(call(), TW_CUDA);
  EXPECT_EQ(sentence(), "The launch failed: out of luck.");
  stand_in().launch_fails = false;
  EXPECT_EQ(call(), TW_OK);
  EXPECT_EQ(sentence(), "");
}

TEST_F(Launch, PlansAreReused) {
  use_split();
  tw_matmul_plan* plan = nullptr;
  ASSERT_EQ(tw_matmul_plan_create(&plan, &problem, &options), TW_OK) << tw_message();
  EXPECT_EQ(tw_matmul_plan_workspace_size(plan), split_workspace_bytes);
  EXPECT_EQ(std::string(tw_matmul_plan_command(plan))
                .rfind("./tw run matmul --instance split --m " + std::to_string(problem.m) +
                           " --n 40 --k 2048 --batch 1 --a-type fp16 --b-type fp16 --split-k ",
                       0),
            0u)
      << tw_matmul_plan_command(plan);
  const auto run = [&] {
    stand_in().events.clear();
    return tw_matmul_plan_run(plan, &problem, room, split_workspace_bytes, stream);
  };
  ASSERT_EQ(run(), TW_OK) << tw_message();
  EXPECT_EQ(stand_in().count(Event::Supports), 0);
  EXPECT_EQ(stand_in().count(Event::Clear), 1);
  problem.d.data = output + 256;
  ASSERT_EQ(run(), TW_OK) << tw_message();
  EXPECT_EQ(last().problem.d.data, output + 256);

  problem.d.data = output + 2;
  EXPECT_EQ(run(), TW_INVALID);
  EXPECT_EQ(sentence(), "The alignment of D is 2, but the plan was made for 16.");
  problem.d.data = output;
  problem.k = 1024;
  EXPECT_EQ(run(), TW_INVALID);
  EXPECT_EQ(sentence(), "k is 1024, but the plan was made for 2048.");
  problem.k = 2048;
  stand_in().device = 1;
  EXPECT_EQ(run(), TW_INVALID);
  EXPECT_EQ(sentence(), "The device is 1, but the plan was made for 0.");
  stand_in().device = 0;
  EXPECT_EQ(tw_matmul_plan_run(plan, &problem, room, 5, stream), TW_WORKSPACE);
  EXPECT_EQ(sentence(), "The workspace has 5 bytes, but this call needs 100000.");
  EXPECT_EQ(run(), TW_OK);
  tw_matmul_plan_destroy(plan);
}

// What is no problem has no such functions.
template <class Given>
concept Runs = requires(const Given& given) {
  tw::run(given);
};
static_assert(Runs<tw_matmul_problem> && !Runs<tw_matrix>);

TEST_F(Launch, FromCpp) {
  use_split();
  const auto usual = initial<tw_matmul_problem>();
  EXPECT_EQ(usual.size, sizeof usual);
  EXPECT_EQ(usual.family, problem.family);
  tw_options wishes = initial_options<tw_matmul_problem>();
  EXPECT_EQ(wishes.workspace_limit, options.workspace_limit);
  EXPECT_TRUE(supported(problem));
  wishes.instance = "whole";
  EXPECT_FALSE(supported(problem, &wishes));
  ASSERT_EQ(workspace_size(problem), split_workspace_bytes);
  const Plan plan(problem);
  EXPECT_EQ(plan.workspace_size(), split_workspace_bytes);
  EXPECT_EQ(std::string(plan.command()).rfind("./tw run matmul --instance split --m ", 0), 0u);
  const auto arrives = [this](const auto& call) {
    stand_in().events.clear();
    call(WorkspaceView{room, split_workspace_bytes});
    EXPECT_EQ(last().kind, Event::Launch);
    EXPECT_EQ(last().memory, room);
    EXPECT_EQ(last().stream, stream);
    try {
      call({room, 5});
      ADD_FAILURE() << "Nothing was thrown.";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), TW_WORKSPACE);
      EXPECT_STREQ(error.what(), "The workspace has 5 bytes, but this call needs 100000.");
    }
  };
  arrives([&](WorkspaceView workspace) { tw::run(problem, workspace, stream); });
  arrives([&](WorkspaceView workspace) { plan.run(problem, workspace, stream); });
  problem.k = -1;
  EXPECT_THROW(supported(problem), Error);
  EXPECT_THROW(Plan{problem}, Error);
}

TEST_F(Launch, EightThreadsShareAPlanAndTheCache) {
  tw_matmul_plan* plan = nullptr;
  ASSERT_EQ(tw_matmul_plan_create(&plan, &problem, &options), TW_OK) << tw_message();
  stand_in().records = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      tw_matmul_problem mine = problem;
      for (int round = 0; round < 1000; ++round) {
        mine.n = 40 + (round * (i + 1)) % 64;
        mine.d.row_stride = mine.n;
        ASSERT_EQ(tw_matmul(&mine, &options, nullptr, 0, stream), TW_OK);
        ASSERT_EQ(tw_matmul_plan_run(plan, &problem, nullptr, 0, stream), TW_OK);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  tw_matmul_plan_destroy(plan);
}

// A build with TW_COMPILED=some has the kernel for the virtual GPU alone.
TEST_F(Launch, AKernelThatIsNotCompiledIsRefusedWithItsName) {
  Instance bare = matmul_instances()[0];
  bare.workspace = nullptr;
  bare.launch = nullptr;
  const library::Choice choice = {{&bare, {}}};
  const Checked checked = library::checked(MatmulFamily::description, &problem);
  std::size_t bytes = 0;
  const std::string named = std::string("The kernel ") + bare.name + " is not compiled for a GPU";
  EXPECT_NE(library::ask_workspace_of(bytes, checked, choice).sentence().find(named),
            std::string::npos);
  EXPECT_NE(library::launch_kernel(checked, choice, {}, stream).sentence().find(named),
            std::string::npos);
}

// Not judged: timing is never in tests.
TEST_F(Launch, PrintsWhatAWarmCallCosts) {
  stand_in().records = false;
  ASSERT_EQ(call(), TW_OK);
  const int calls = 20'000;
  for (const std::ptrdiff_t step : {0, 16}) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
      problem.a.data = memory + (i % 2) * step;
      call();
    }
    const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - begin;
    std::printf("%.3f us of host time for a warm call%s, without the launch itself\n",
                all.count() / calls, step == 0 ? "" : " at other addresses");
  }
}

}  // namespace
}  // namespace tw::tests
