// What the C interface refuses, to the letter: every field of a sound problem gets extreme values
// in turn, and the status and the sentence of each call that is refused stand in
// refusals/FAMILY.list. TW_WRITE_REFUSALS=FOLDER writes what is found there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <type_traits>

#include "tests/library/fields.h"

namespace tw::tests {
namespace {

alignas(256) unsigned char refused_memory[1 << 15];

template <class Type>
Type* at(unsigned place) {
  return reinterpret_cast<Type*>(refused_memory + 1024 * place);
}

// Calls set(value, words) for every extreme of a field.
template <class Field, class Set>
void each_extreme(const Field& field, const Set& set) {
  if constexpr (std::is_pointer_v<Field>) {
    const auto address = reinterpret_cast<std::uintptr_t>(field);
    set(Field{}, "null");
    if (address == 0) return;
    for (const int offset : {1, 2}) {
      set(reinterpret_cast<Field>(address + static_cast<std::uintptr_t>(offset)),
          fmt::format("{} bytes behind", offset));
    }
    set(at<std::remove_pointer_t<Field>>(2), "where D is");
  } else if constexpr (std::is_enum_v<Field>) {
    for (const int value : {0, 1, 2, 3, 4, 5, 6, 7, 8, -1}) {
      set(static_cast<Field>(value), std::to_string(value));
    }
  } else if constexpr (std::is_floating_point_v<Field>) {
    for (const Field value :
         {Field{0}, Field{1}, Field{-3}, std::numeric_limits<Field>::quiet_NaN(),
          std::numeric_limits<Field>::infinity()}) {
      set(value, fmt::format("{}", value));
    }
  } else {
    using Limits = std::numeric_limits<Field>;
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, std::int64_t{9}, std::int64_t{-1},
          std::int64_t{1} << 30, std::int64_t{1} << 31, std::int64_t{1} << 39,
          std::int64_t{1} << 57, std::int64_t{Limits::min()}, std::int64_t{Limits::max()}}) {
      if (value >= Limits::min() && value <= Limits::max()) {
        set(static_cast<Field>(value), std::to_string(value));
      }
    }
  }
}

// `call` makes a plan of a problem.
template <class Problem, class Call>
std::string refusals_of(const char* title, Problem problem, const Call& call) {
  const tw_status sound = call(problem);
  EXPECT_EQ(sound, TW_OK) << title << ": " << tw_message();
  std::string text;
  each_field(problem, "", [&](const std::string& name, auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    const Field before = field;
    each_extreme(before, [&](Field value, const std::string& words) {
      field = value;
      const tw_status status = call(problem);
      if (status != TW_OK) {
        text += fmt::format("{}, {} = {}: {} {}\n", title, name, words, static_cast<int>(status),
                            tw_message());
      }
      field = before;
    });
  });
  return text;
}

void expect_frozen(const char* family, const std::string& found) {
  const std::string file = std::string("/") + family + ".list";
  if (const char* folder = std::getenv("TW_WRITE_REFUSALS")) std::ofstream(folder + file) << found;
  std::stringstream frozen;
  frozen << std::ifstream(TW_REFUSALS + file).rdbuf();
  std::stringstream lines(found);
  std::string right, line;
  while (std::getline(frozen, right)) {
    ASSERT_TRUE(static_cast<bool>(std::getline(lines, line))) << "No longer refused: " << right;
    ASSERT_EQ(line, right);
  }
  EXPECT_FALSE(static_cast<bool>(std::getline(lines, line))) << "Newly refused: " << line;
}

// 4 x 8 x 16.
tw_matmul_problem plain_product(tw_type type) {
  tw_matmul_problem problem;
  tw_matmul_init(&problem, nullptr);
  problem.m = 4;
  problem.n = 8;
  problem.k = 16;
  problem.a = {at<void>(0), 16, 1, 0, type};
  problem.b = {at<void>(1), 1, 16, 0, type};
  problem.d = {at<void>(2), 8, 1, 0, TW_BF16};
  return problem;
}

void add_epilogue(tw_epilogue& epilogue) {
  epilogue.beta = 1;
  epilogue.activation = TW_CLAMP;
  epilogue.clamp_high = 2;
  epilogue.source = {at<void>(10), 8, 1, 0, TW_FP16};
  epilogue.auxiliary = {at<void>(11), 8, 1, 0, TW_FP32};
  epilogue.bias_type = TW_FP32;
  epilogue.column_bias = at<void>(12);
  epilogue.row_bias = at<void>(13);
  epilogue.column_scale = at<float>(14);
  epilogue.row_scale = at<float>(15);
  epilogue.amax = at<float>(16);
}

// What a typed function says of a problem; the plan is not wanted.
template <auto create>
constexpr auto planned = [](const auto& problem) {
  tw_plan* plan = nullptr;
  const tw_status status = create(&plan, &problem, nullptr);
  tw_plan_destroy(plan);
  return status;
};

TEST(FrozenRefusals, Matmul) {
  const auto call = planned<tw_matmul_plan_create>;
  tw_matmul_problem problem = plain_product(TW_BF16);
  std::string found = refusals_of("plain", problem, call);
  add_epilogue(problem.epilogue);
  found += refusals_of("epilogue", problem, call);
  problem.batch = 3;
  problem.b.batch_stride = 128;
  problem.d.batch_stride = problem.epilogue.source.batch_stride = 32;
  problem.epilogue.auxiliary.batch_stride = 32;
  expect_frozen("matmul", found + refusals_of("batch", problem, call));
}

TEST(FrozenRefusals, Blockwise) {
  tw_blockwise_problem problem;
  tw_blockwise_init(&problem, nullptr);
  problem.matmul = plain_product(TW_E4M3);
  problem.a_scales = {at<void>(3), 4, 1, 1, 1, 0, TW_FP32};
  problem.b_scales = {at<void>(4), 1, 1, 1, 1, 0, TW_FP32};
  expect_frozen("blockwise", refusals_of("plain", problem, planned<tw_blockwise_plan_create>));
}

TEST(FrozenRefusals, Requantised) {
  const auto call = planned<tw_requantised_plan_create>;
  tw_requantised_problem problem;
  tw_requantised_init(&problem, nullptr);
  problem.matmul = plain_product(TW_E4M3);
  problem.matmul.d.type = TW_E4M3;
  problem.a_scales = {at<void>(3), 4, 1, 1, 1, 0, TW_FP32};
  problem.b_scales = {at<void>(4), 1, 1, 1, 1, 0, TW_FP32};
  problem.d_scales = {at<void>(5), 1, 1, 0, TW_FP32};
  const std::string found = refusals_of("plain", problem, call);
  // Two groups of 4 rows; a gate's blocks of 128 columns and those of its ups.
  problem.matmul.n = 256;
  problem.matmul.batch = 2;
  problem.matmul.b = {at<void>(7), 1, 16, 4096, TW_E4M3};
  problem.matmul.d.row_stride = 128;
  problem.b_scales = {at<void>(4), 2, 1, 1, 1, 2, TW_FP32};
  problem.rows = at<std::int32_t>(6);
  problem.gated_blocks = 1;
  expect_frozen("requantised", found + refusals_of("groups and gate", problem, call));
}

TEST(FrozenRefusals, Grouped) {
  const auto call = planned<tw_grouped_plan_create>;
  tw_grouped_problem problem;
  tw_grouped_init(&problem, nullptr);
  problem.matmul = plain_product(TW_E4M3);
  problem.matmul.batch = 2;
  problem.matmul.b.batch_stride = 128;
  problem.rows = at<std::int32_t>(5);
  std::string found = refusals_of("plain", problem, call);
  problem.capacity = 2;
  add_epilogue(problem.matmul.epilogue);
  found += refusals_of("capacity and epilogue", problem, call);
  problem.matmul.epilogue = plain_product(TW_E4M3).epilogue;
  problem.capacity = 0;
  problem.row_index = at<std::int32_t>(6);
  problem.a_rows = 5;
  found += refusals_of("row index", problem, call);
  problem.a_scales = {at<void>(7), 5, 1, 1, 1, 0, TW_FP32};
  problem.b_scales = {at<void>(8), 1, 1, 1, 1, 1, TW_FP32};
  found += refusals_of("row index and scales", problem, call);
  problem.row_index = nullptr;
  problem.a_scales.rows = 4;
  found += refusals_of("scales", problem, call);
  problem.a_scales = problem.b_scales = {};
  problem.a_block_scales = at<void>(9);
  problem.b_block_scales = at<void>(10);
  expect_frozen("grouped", found + refusals_of("block scales", problem, call));
}

// Every direction; in groups, with a depth, and with an epilogue.
TEST(FrozenRefusals, Conv2d) {
  const auto call = planned<tw_conv2d_plan_create>;
  tw_conv2d_problem problem;
  tw_conv2d_init(&problem, nullptr);
  problem.c = 4;
  problem.k = 8;
  problem.h = {3, 2, 1, 1, 1, 0};
  problem.w = {3, 3, 2, 1, 1, 1};
  problem.image = at<void>(0);
  problem.filter = at<void>(1);
  problem.d = at<void>(2);
  std::string found = refusals_of("forward", problem, call);
  problem.direction = TW_BACKWARD_DATA;
  found += refusals_of("data", problem, call);
  problem.direction = TW_BACKWARD_FILTER;
  problem.depth = {2, 2, 1, 1, 0, 0};
  found += refusals_of("filter with a depth", problem, call);
  problem.direction = TW_FORWARD;
  problem.groups = 2;
  add_epilogue(problem.epilogue);
  expect_frozen("conv2d", found + refusals_of("groups and epilogue", problem, call));
}

// Three sequences of 4 queries and 5 keys; 2 heads of 16 columns, side by side, that share keys.
TEST(FrozenRefusals, Attention) {
  const auto call = planned<tw_attention_plan_create>;
  tw_attention_problem problem;
  tw_attention_init(&problem, nullptr);
  problem.heads = 2;
  problem.head_size = 16;
  problem.sequences = 3;
  problem.queries = 4;
  problem.keys = 5;
  problem.q = {at<void>(0), 32, 1, 16, TW_BF16};
  problem.k = {at<void>(1), 16, 1, 0, TW_BF16};
  problem.v = {at<void>(3), 16, 1, 0, TW_BF16};
  problem.output = {at<void>(2), 32, 1, 16, TW_BF16};
  std::string found = refusals_of("plain", problem, call);
  problem.queries = 12;
  problem.keys = 15;
  problem.query_ends = at<std::int32_t>(5);
  problem.key_ends = at<std::int32_t>(6);
  problem.log_sums = {at<void>(7), 12, 1, 0, TW_FP32};
  problem.causal = 1;
  problem.window = 3;
  problem.sinks = at<float>(8);
  found += refusals_of("ends, window, sinks and log sums", problem, call);
  // Pages of 8 tokens.
  problem.query_ends = nullptr;
  problem.queries = 4;
  problem.keys = 15;
  problem.page_size = 8;
  problem.pages = 5;
  problem.table_pitch = 2;
  problem.page_table = at<std::int32_t>(9);
  problem.k.data = at<void>(10);
  problem.v.data = at<void>(12);
  found += refusals_of("pages", problem, call);
  problem.q.type = problem.k.type = problem.v.type = TW_E4M3;
  problem.q_scales = at<float>(13);
  problem.k_scales = at<float>(14);
  problem.v_scales = at<float>(15);
  expect_frozen("attention", found + refusals_of("e4m3 in pages", problem, call));
}

TEST(FrozenRefusals, Quantise) {
  tw_quantise_problem problem;
  tw_quantise_init(&problem, nullptr);
  problem.m = 4;
  problem.k = 16;
  problem.source = {at<void>(0), 16, 1, 0, TW_BF16};
  problem.elements = {at<void>(2), 16, 1, 0, TW_E4M3};
  problem.scales = {at<void>(3), 1, 1, 0, TW_FP32};
  expect_frozen("quantise", refusals_of("plain", problem, planned<tw_quantise_plan_create>));
}

// Alone, then with a residual.
TEST(FrozenRefusals, RmsNorm) {
  const auto call = planned<tw_rms_norm_plan_create>;
  tw_rms_norm_problem problem;
  tw_rms_norm_init(&problem, nullptr);
  problem.m = 4;
  problem.k = 16;
  problem.source = {at<void>(0), 16, 1, 0, TW_BF16};
  problem.output = {at<void>(2), 16, 1, 0, TW_BF16};
  problem.weight = at<void>(4);
  const std::string found = refusals_of("plain", problem, call);
  problem.residual = {at<void>(6), 16, 1, 0, TW_BF16};
  problem.sum = {at<void>(8), 16, 1, 0, TW_BF16};
  expect_frozen("rms_norm", found + refusals_of("residual", problem, call));
}

// Token by token, then where positions and slots say.
TEST(FrozenRefusals, Rotary) {
  const auto call = planned<tw_rotary_plan_create>;
  tw_rotary_problem problem;
  tw_rotary_init(&problem, nullptr);
  problem.tokens = problem.all_positions = problem.rows = 2;
  problem.heads = problem.key_heads = 1;
  problem.head_size = 16;
  problem.qkv = {at<void>(0), 48, 1, 0, TW_BF16};
  problem.cosines = {at<void>(2), 8, 1, 0, TW_FP32};
  problem.sines = {at<void>(4), 8, 1, 0, TW_FP32};
  problem.q = {at<void>(6), 16, 1, 0, TW_BF16};
  problem.k = {at<void>(8), 16, 1, 0, TW_BF16};
  problem.v = {at<void>(10), 16, 1, 0, TW_BF16};
  const std::string found = refusals_of("rows", problem, call);
  problem.positions = at<std::int32_t>(12);
  problem.slots = at<std::int32_t>(13);
  expect_frozen("rotary", found + refusals_of("slots", problem, call));
}

// Softmaxes, then sigmoids with a bias and groups.
TEST(FrozenRefusals, Route) {
  const auto call = planned<tw_route_plan_create>;
  tw_route_problem problem;
  tw_route_init(&problem, nullptr);
  problem.tokens = problem.k = 2;
  problem.experts = 8;
  problem.logits = {at<void>(0), 8, 1, 0, TW_FP32};
  problem.weights = at<float>(2);
  problem.chosen = at<std::int32_t>(3);
  problem.places = at<std::int32_t>(4);
  problem.index = at<std::int32_t>(5);
  problem.ends = at<std::int32_t>(6);
  const std::string found = refusals_of("softmax", problem, call);
  problem.scoring = TW_SIGMOID;
  problem.groups = 4;
  problem.top_groups = problem.group_scores = 2;
  problem.bias = at<float>(7);
  expect_frozen("route", found + refusals_of("groups", problem, call));
}

TEST(FrozenRefusals, Combine) {
  const auto call = planned<tw_combine_plan_create>;
  tw_combine_problem problem;
  tw_combine_init(&problem, nullptr);
  problem.tokens = problem.k = 2;
  problem.columns = 16;
  problem.rows = 4;
  problem.source = {at<void>(0), 16, 1, 0, TW_BF16};
  problem.output = {at<void>(2), 16, 1, 0, TW_BF16};
  problem.places = at<std::int32_t>(5);
  const std::string found = refusals_of("plain", problem, call);
  problem.weights = at<float>(4);
  problem.addend = {at<void>(6), 16, 1, 0, TW_BF16};
  expect_frozen("combine", found + refusals_of("addend", problem, call));
}

// MXFP8, then NVFP4 in a batch and with an epilogue.
TEST(FrozenRefusals, BlockScaled) {
  const auto call = planned<tw_block_scaled_plan_create>;
  tw_block_scaled_problem problem;
  tw_block_scaled_init(&problem, nullptr);
  problem.matmul = plain_product(TW_E4M3);
  problem.a_scales = at<void>(4);
  problem.b_scales = at<void>(6);
  std::string found = refusals_of("MXFP8", problem, call);
  problem.matmul.a.type = problem.matmul.b.type = TW_E2M1;
  problem.scale = TW_UE4M3;
  problem.matmul.batch = 2;
  problem.matmul.a.batch_stride = 64;
  problem.matmul.b.batch_stride = 128;
  add_epilogue(problem.matmul.epilogue);
  problem.matmul.d.batch_stride = problem.matmul.epilogue.source.batch_stride = 32;
  problem.matmul.epilogue.auxiliary.batch_stride = 32;
  expect_frozen("block_scaled", found + refusals_of("NVFP4 and epilogue", problem, call));
}

// MXFP4 by rows, then int4 of AWQ with zero points.
TEST(FrozenRefusals, PackWeights) {
  const auto call = planned<tw_pack_weights_plan_create>;
  tw_pack_weights_problem problem;
  tw_pack_weights_init(&problem, nullptr);
  problem.n = 16;
  problem.k = 64;
  problem.codes = {at<void>(0), 8, 1, 0, TW_S32};
  problem.scales = {at<void>(2), 2, 1, 0, TW_S8};
  problem.packed = at<void>(12);
  const std::string found = refusals_of("MXFP4", problem, call);
  problem.format = TW_INT4_ZEROS;
  problem.order = TW_CODES_OF_AWQ;
  problem.zero_offset = 1;
  problem.codes = {at<void>(0), 1, 2, 0, TW_S32};
  problem.scales = {at<void>(2), 1, 16, 0, TW_BF16};
  problem.zeros = {at<void>(6), 1, 2, 0, TW_S32};
  expect_frozen("pack_weights", found + refusals_of("AWQ with zero points", problem, call));
}

// Plain, then in a batch and with an epilogue, then in groups, then by scales of A.
TEST(FrozenRefusals, FourBit) {
  const auto call = planned<tw_four_bit_plan_create>;
  tw_four_bit_problem problem;
  tw_four_bit_init(&problem, nullptr);
  problem.m = 4;
  problem.n = 8;
  problem.k = 16;
  problem.a = {at<void>(0), 16, 1, 0, TW_BF16};
  problem.weights = at<void>(20);
  problem.d = {at<void>(2), 8, 1, 0, TW_BF16};
  std::string found = refusals_of("mxfp4", problem, call);
  problem.batch = 2;
  problem.a.batch_stride = 64;
  problem.exponent = 3;
  add_epilogue(problem.epilogue);
  problem.d.batch_stride = problem.epilogue.source.batch_stride = 32;
  problem.epilogue.auxiliary.batch_stride = 32;
  found += refusals_of("batch and epilogue", problem, call);
  problem.epilogue = {};
  problem.epilogue.alpha = problem.epilogue.output_scale = 1.0f;
  problem.a.batch_stride = problem.d.batch_stride = 0;
  problem.rows = at<std::int32_t>(22);
  found += refusals_of("groups", problem, call);
  problem.row_index = at<std::int32_t>(24);
  problem.a_rows = 3;
  found += refusals_of("gathered rows", problem, call);
  // Three rows and two blocks of k.
  problem.rows = problem.row_index = nullptr;
  problem.a_rows = 0;
  problem.batch = 1;
  problem.exponent = 0;
  problem.m = 3;
  problem.k = 256;
  problem.a = {at<void>(0), 256, 1, 0, TW_E4M3};
  problem.a_scales = {at<void>(23), 2, 1, 0, TW_FP32};
  expect_frozen("four_bit", found + refusals_of("e4m3 with scales", problem, call));
}

TEST(FrozenRefusals, BlockDequantise) {
  tw_block_dequantise_problem problem;
  tw_block_dequantise_init(&problem, nullptr);
  problem.m = 4;
  problem.k = 64;
  problem.elements = {at<void>(0), 64, 1, 0, TW_E2M1};
  problem.values = {at<void>(2), 64, 1, 0, TW_BF16};
  problem.scales = at<void>(4);
  expect_frozen("block_dequantise",
                refusals_of("MXFP4", problem, planned<tw_block_dequantise_plan_create>));
}

TEST(FrozenRefusals, BlockQuantise) {
  const auto call = planned<tw_block_quantise_plan_create>;
  tw_block_quantise_problem problem;
  tw_block_quantise_init(&problem, nullptr);
  problem.m = 4;
  problem.k = 64;
  problem.source = {at<void>(0), 64, 1, 0, TW_BF16};
  problem.elements = {at<void>(2), 64, 1, 0, TW_E4M3};
  problem.scales = at<void>(4);
  std::string found = refusals_of("MXFP8", problem, call);
  problem.elements.type = TW_E2M1;
  problem.scale = TW_UE4M3;
  problem.tensor_scale = 0.5f;
  expect_frozen("block_quantise", found + refusals_of("NVFP4", problem, call));
}

}  // namespace
}  // namespace tw::tests
