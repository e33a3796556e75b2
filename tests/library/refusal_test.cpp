// What the C interface refuses: the status, and a sentence that names the value and the rule.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tilewright.h"

namespace tw::tests {
namespace {

// A sound problem in memory that nobody reads: 24 x 40 x 32, row-major, bf16.
struct Given {
  Given() {
    tw_matmul_init(&problem, &options);
    problem.m = 24;
    problem.n = 40;
    problem.k = 32;
    problem.a = {memory, 32, 1, 0, TW_BF16};
    problem.b = {memory + 4096, 1, 32, 0, TW_BF16};
    problem.d = {memory + 8192, 40, 1, 0, TW_BF16};
  }
  alignas(256) unsigned char memory[12288] = {};
  tw_matmul_problem problem;
  tw_matmul_options options;
};

struct Case {
  const char* name;
  std::function<void(Given&)> spoil;
  tw_status status;
  const char* sentence;  // a part of it
};

const tw_type no_type = static_cast<tw_type>(99);

const Case cases[] = {
    {"problem size", [](Given& g) { g.problem.size = 8; }, TW_INVALID,
     "The size of the problem is 8, but this library's has"},
    {"options size", [](Given& g) { g.options.size = 0; }, TW_INVALID,
     "The size of the options is 0, but this library's has"},
    {"negative m", [](Given& g) { g.problem.m = -1; }, TW_INVALID,
     "m = -1 must be at least 0 and below 2^31 - 256."},
    {"negative n", [](Given& g) { g.problem.n = -5; }, TW_INVALID, "n = -5 must be at least 0"},
    {"negative k", [](Given& g) { g.problem.k = -2; }, TW_INVALID, "k = -2 must be at least 0"},
    {"negative batch", [](Given& g) { g.problem.batch = -1; }, TW_INVALID,
     "batch = -1 must be at least 0"},
    {"large m", [](Given& g) { g.problem.m = std::int64_t{1} << 31; }, TW_INVALID,
     "m = 2147483648 must be at least 0 and below 2^31 - 256."},
    {"null A", [](Given& g) { g.problem.a.data = nullptr; }, TW_INVALID,
     "The address of A is null."},
    {"null B", [](Given& g) { g.problem.b.data = nullptr; }, TW_INVALID,
     "The address of B is null."},
    {"null D", [](Given& g) { g.problem.d.data = nullptr; }, TW_INVALID,
     "The address of D is null."},
    {"odd address", [](Given& g) { g.problem.a.data = g.memory + 1; }, TW_INVALID,
     "The address of A is not a multiple of 2 bytes"},
    {"strides of A",
     [](Given& g) {
       g.problem.a.row_stride = 64;
       g.problem.a.column_stride = 2;
     },
     TW_INVALID, "A has a row_stride of 64 and a column_stride of 2, but one of them must be 1."},
    {"strides of B",
     [](Given& g) {
       g.problem.b.row_stride = 3;
       g.problem.b.column_stride = 99;
     },
     TW_INVALID, "B has a row_stride of 3 and a column_stride of 99"},
    {"short rows of A", [](Given& g) { g.problem.a.row_stride = 31; }, TW_INVALID,
     "The pitch of A is 31 elements, but its lines have 32."},
    {"negative stride of B", [](Given& g) { g.problem.b.column_stride = -32; }, TW_INVALID,
     "The pitch of B is -32 elements, but its lines have 32."},
    {"column-major D",
     [](Given& g) {
       g.problem.d.row_stride = 1;
       g.problem.d.column_stride = 24;
     },
     TW_INVALID, "The column_stride of D is 24, but must be 1: rows are contiguous."},
    {"short rows of D", [](Given& g) { g.problem.d.row_stride = 39; }, TW_INVALID,
     "The pitch of D is 39 elements, but its lines have 40."},
    {"D shared by the batch", [](Given& g) { g.problem.batch = 2; }, TW_INVALID,
     "The batch pitch of D is 0 elements, but a matrix takes 960: matrices of the batch would "
     "overlap."},
    {"negative batch stride",
     [](Given& g) {
       g.problem.batch = 2;
       g.problem.d.batch_stride = 960;
       g.problem.a.batch_stride = -768;
     },
     TW_INVALID, "The batch pitch of A is -768 elements, but must not be negative."},
    {"beyond addresses",
     [](Given& g) {
       g.problem.m = 2'000'000'000;
       g.problem.d.row_stride = std::int64_t{1} << 38;
     },
     TW_INVALID, "D spans 549755813888000000000 elements, but at most 2^58 are addressed."},
    {"large pitch", [](Given& g) { g.problem.a.row_stride = std::int64_t{1} << 39; }, TW_INVALID,
     "The pitch of A is 549755813888 elements, but must be below 2^40 bytes."},
    {"type of A", [](Given& g) { g.problem.a.type = no_type; }, TW_INVALID,
     "The type of A is 99, but a tw_type is between 0 and 10."},
    {"type of B", [](Given& g) { g.problem.b.type = no_type; }, TW_INVALID, "The type of B is 99"},
    {"type of D", [](Given& g) { g.problem.d.type = no_type; }, TW_INVALID, "The type of D is 99"},
    {"activation", [](Given& g) { g.problem.epilogue.activation = static_cast<tw_activation>(6); },
     TW_INVALID, "The activation is 6, but a tw_activation is between 0 and 5."},
    {"clamp",
     [](Given& g) {
       g.problem.epilogue.activation = TW_CLAMP;
       g.problem.epilogue.clamp_low = 2;
       g.problem.epilogue.clamp_high = 1;
     },
     TW_INVALID, "clamp_low is 2, but must not exceed clamp_high, 1."},
    {"clamp to nan",
     [](Given& g) {
       g.problem.epilogue.activation = TW_CLAMP;
       g.problem.epilogue.clamp_high = std::numeric_limits<float>::quiet_NaN();
     },
     TW_INVALID, "clamp_low is 0, but must not exceed clamp_high, nan."},
    {"beta without a source", [](Given& g) { g.problem.epilogue.beta = 0.5f; }, TW_INVALID,
     "beta is 0.5, but there is no C to scale with it."},
    {"source by columns",
     [](Given& g) {
       g.problem.epilogue.beta = 1;
       g.problem.epilogue.source = {g.memory, 1, 24, 0, TW_BF16};
     },
     TW_INVALID, "The source has a column_stride of 24, but must have 1"},
    {"source of bytes",
     [](Given& g) {
       g.problem.epilogue.beta = 1;
       g.problem.epilogue.source = {g.memory, 40, 1, 0, TW_S8};
     },
     TW_INVALID, "C has type s8, but must be bf16, fp16 or fp32."},
    {"auxiliary of integers",
     [](Given& g) {
       g.problem.epilogue.auxiliary = {g.memory, 40, 1, 0, TW_S32};
     },
     TW_INVALID, "The auxiliary output has type s32, but must be bf16, fp16 or fp32."},
    {"auxiliary of no type",
     [](Given& g) {
       g.problem.epilogue.auxiliary = {g.memory, 40, 1, 0, no_type};
     },
     TW_INVALID, "The type of the auxiliary output is 99"},
    {"bias of bytes",
     [](Given& g) {
       g.problem.epilogue.column_bias = g.memory;
       g.problem.epilogue.bias_type = TW_E4M3;
     },
     TW_INVALID, "The bias has type e4m3, but must be bf16, fp16 or fp32."},
    {"odd bias", [](Given& g) { g.problem.epilogue.row_bias = g.memory + 1; }, TW_INVALID,
     "The address of the row bias is not a multiple of 2 bytes"},
    {"odd scale",
     [](Given& g) {
       g.problem.epilogue.column_scale = reinterpret_cast<const float*>(g.memory + 2);
     },
     TW_INVALID, "The address of the column scale is not a multiple of 4 bytes"},
    {"odd gate",
     [](Given& g) {
       g.problem.n = 41;
       g.problem.epilogue.gated = 1;
     },
     TW_INVALID, "n is 41, but a gate needs pairs of columns: an even n."},
    {"D in A", [](Given& g) { g.problem.d.data = g.problem.a.data; }, TW_INVALID,
     "D begins where A does, but must have memory of its own."},
    {"auxiliary in D",
     [](Given& g) {
       g.problem.epilogue.auxiliary = {g.problem.d.data, 40, 1, 0, TW_BF16};
     },
     TW_INVALID, "The auxiliary output begins where D does, but must have memory of its own."},
    {"source in D, of another type",
     [](Given& g) {
       g.problem.epilogue.beta = 1;
       g.problem.epilogue.source = {g.problem.d.data, 40, 1, 0, TW_FP32};
     },
     TW_INVALID, "The source begins where D does, but has another type or other strides."},
    {"unknown instance", [](Given& g) { g.options.instance = "zebra"; }, TW_INVALID,
     "There is no instance 'zebra' of matmul; ./tw list shows those that there are."},
};

TEST(Refusal, EveryCallNamesTheValueAndTheRule) {
  for (const Case& one : cases) {
    Given given;
    one.spoil(given);
    std::size_t bytes = 7;
    tw_matmul_plan* plan = nullptr;
    const std::pair<const char*, std::function<tw_status()>> calls[] = {
        {"supported", [&] { return tw_matmul_supported(&given.problem, &given.options); }},
        {"workspace size",
         [&] { return tw_matmul_workspace_size(&bytes, &given.problem, &given.options); }},
        {"matmul", [&] { return tw_matmul(&given.problem, &given.options, nullptr, 0, nullptr); }},
        {"plan", [&] { return tw_matmul_plan_create(&plan, &given.problem, &given.options); }},
        {"simulate", [&] { return tw_matmul_simulate(&given.problem, &given.options); }},
    };
    for (const auto& [name, call] : calls) {
      EXPECT_EQ(call(), one.status) << one.name << ", " << name << ": " << tw_message();
      EXPECT_NE(std::string(tw_message()).find(one.sentence), std::string::npos)
          << one.name << ", " << name << ": " << tw_message();
    }
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(bytes, 0u);
  }
}

TEST(Refusal, NullArgumentsAreNamed) {
  Given given;
  std::size_t bytes = 0;
  EXPECT_EQ(tw_matmul(nullptr, nullptr, nullptr, 0, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "The problem is null.");
  EXPECT_EQ(tw_matmul_simulate(nullptr, nullptr), TW_INVALID);
  EXPECT_EQ(tw_matmul_supported(nullptr, nullptr), TW_INVALID);
  EXPECT_EQ(tw_matmul_workspace_size(&bytes, nullptr, nullptr), TW_INVALID);
  EXPECT_EQ(tw_matmul_workspace_size(nullptr, &given.problem, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "The address for the size is null.");
  EXPECT_EQ(tw_matmul_plan_create(nullptr, &given.problem, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "The address for the plan is null.");
  EXPECT_EQ(tw_matmul_plan_run(nullptr, &given.problem, nullptr, 0, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "The plan is null.");
  tw_matmul_plan_destroy(nullptr);
  EXPECT_EQ(tw_matmul_plan_workspace_size(nullptr), 0u);
  EXPECT_STREQ(tw_matmul_plan_command(nullptr), "");
  tw_matmul_init(nullptr, nullptr);
}

TEST(Refusal, TargetsAreKnownByName) {
  Given given;
  given.options.target = "sm42";
  EXPECT_EQ(tw_matmul_simulate(&given.problem, &given.options), TW_INVALID);
  EXPECT_STREQ(tw_message(),
               "There is no target 'sm42'; there are sm80, sm90a, sm100a, gfx942 and gfx950.");
}

// Sound, but compiled nowhere: choose()'s sentence arrives.
TEST(Refusal, WhatNoKernelComputesIsUnsupported) {
  Given given;
  given.problem.d.type = TW_E5M2;
  EXPECT_EQ(tw_matmul_simulate(&given.problem, &given.options), TW_UNSUPPORTED);
  EXPECT_NE(std::string(tw_message()).find("No compiled kernel computes this product on sm90a"),
            std::string::npos)
      << tw_message();
}

// Two sequences of 4 queries and 8 keys, bf16, in memory that nobody reads.
TEST(Refusal, RangesOfKeysAreMasksOfTheirOwn) {
  alignas(256) static unsigned char memory[16384];
  static const std::int32_t ints[4][16] = {};
  tw_attention_problem sound;
  tw_attention_init(&sound, nullptr);
  sound.head_size = 128;
  sound.sequences = 2;
  sound.queries = 4;
  sound.keys = 8;
  sound.q = {memory, 128, 1, 0, TW_BF16};
  sound.k = {memory + 4096, 128, 1, 0, TW_BF16};
  sound.v = {memory + 8192, 128, 1, 0, TW_BF16};
  sound.output = {memory + 12288, 128, 1, 0, TW_BF16};
  sound.range_begins = ints[0];
  sound.range_ends = ints[1];
  const auto expect_refused = [&](const char* words, const auto& spoil) {
    tw_attention_problem problem = sound;
    spoil(problem);
    tw_plan* plan = nullptr;
    EXPECT_EQ(tw_attention_plan_create(&plan, &problem, nullptr), TW_INVALID);
    EXPECT_STREQ(tw_message(), words);
    EXPECT_EQ(tw_attention_supported(&problem, nullptr), TW_INVALID);
    EXPECT_STREQ(tw_message(), words);
    EXPECT_EQ(plan, nullptr);
  };
  const char* const one_alone = "range_begins and range_ends are given both, or neither.";
  expect_refused(one_alone, [](auto& problem) { problem.range_begins = nullptr; });
  expect_refused(one_alone, [](auto& problem) { problem.range_ends = nullptr; });
  const char* const beside =
      "Ranges of keys are masks of their own: causal is 0 beside them, and keys are not in pages.";
  expect_refused(beside, [](auto& problem) { problem.causal = 1; });
  expect_refused(beside, [](auto& problem) {
    problem.page_size = 8;
    problem.pages = 2;
    problem.table_pitch = 1;
    problem.page_table = ints[2];
    problem.key_ends = ints[3];
  });
}

TEST(Refusal, TheVersionIsTheHeaders) {
  const std::string version = std::to_string(TW_VERSION_MAJOR) + "." +
                              std::to_string(TW_VERSION_MINOR) + "." +
                              std::to_string(TW_VERSION_PATCH);
  EXPECT_EQ(tw_version(), version);
  EXPECT_EQ(version, TW_PROJECT_VERSION);
}

TEST(Refusal, APlugInIsASharedObjectWithFamilies) {
  EXPECT_EQ(tw_load_plugin(nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "The path of the plug-in is null.");
  EXPECT_EQ(tw_load_plugin("/nowhere/plugin.so"), TW_INVALID);
  EXPECT_EQ(
      std::string(tw_message()).rfind("The plug-in '/nowhere/plugin.so' cannot be loaded: ", 0), 0u)
      << tw_message();
  EXPECT_EQ(tw_load_plugin("libm.so.6"), TW_INVALID);
  EXPECT_STREQ(tw_message(),
               "The plug-in 'libm.so.6' has no function tw_plugin, which TW_PLUGIN_FAMILIES of "
               "tilewright/plugin.h makes.");
}

#if !TW_WITH_CUDA
TEST(Refusal, WithoutCudaTheCallsSaySo) {
  Given given;
  EXPECT_EQ(tw_matmul(&given.problem, &given.options, nullptr, 0, nullptr), TW_CUDA);
  EXPECT_NE(std::string(tw_message()).find("built without CUDA"), std::string::npos);
}
#endif

}  // namespace
}  // namespace tw::tests
