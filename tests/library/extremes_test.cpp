// The ends of int64_t in any two fields of a problem, with stand-ins for the kernels: calls return
// a status, and a sentence wherever it is not TW_OK. The sanitizer that this is compiled with
// watches that nothing overflows on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tilewright.h"

namespace tw::tests {
namespace {

alignas(256) unsigned char memory[1 << 12];

using Fields = std::vector<std::int64_t*>;

void add(Fields& fields, tw_matrix& matrix) {
  for (std::int64_t* field : {&matrix.row_stride, &matrix.column_stride, &matrix.batch_stride}) {
    fields.push_back(field);
  }
}
void add(Fields& fields, tw_scales& scales) {
  for (std::int64_t* field : {&scales.rows, &scales.k_blocks, &scales.row_stride, &scales.k_stride,
                              &scales.batch_stride}) {
    fields.push_back(field);
  }
}
void add(Fields& fields, tw_conv2d_axis& axis) {
  for (std::int64_t* field :
       {&axis.extent, &axis.filter, &axis.stride, &axis.dilation, &axis.pad_low, &axis.pad_high}) {
    fields.push_back(field);
  }
}
void add(Fields& fields, tw_matmul_problem& problem) {
  for (std::int64_t* field : {&problem.m, &problem.n, &problem.k, &problem.batch}) {
    fields.push_back(field);
  }
  tw_epilogue& epilogue = problem.epilogue;
  for (tw_matrix* matrix :
       {&problem.a, &problem.b, &problem.d, &epilogue.source, &epilogue.auxiliary}) {
    add(fields, *matrix);
  }
}
void add(Fields& fields, tw_conv2d_problem& problem) {
  for (std::int64_t* field : {&problem.n, &problem.c, &problem.k, &problem.groups}) {
    fields.push_back(field);
  }
  for (tw_conv2d_axis* axis : {&problem.h, &problem.w, &problem.depth}) add(fields, *axis);
}
void add(Fields& fields, tw_blockwise_problem& problem) {
  add(fields, problem.matmul);
  add(fields, problem.a_scales);
  add(fields, problem.b_scales);
}
void add(Fields& fields, tw_grouped_problem& problem) {
  add(fields, problem.matmul);
  fields.push_back(&problem.capacity);
  fields.push_back(&problem.a_rows);
  add(fields, problem.a_scales);
  add(fields, problem.b_scales);
}
void add(Fields& fields, tw_attention_problem& problem) {
  for (std::int64_t* field :
       {&problem.heads, &problem.key_heads, &problem.head_size, &problem.value_size,
        &problem.sequences, &problem.queries, &problem.keys, &problem.window, &problem.page_size,
        &problem.pages, &problem.table_pitch}) {
    fields.push_back(field);
  }
  for (tw_matrix* matrix : {&problem.q, &problem.k, &problem.v, &problem.output}) {
    add(fields, *matrix);
  }
}
void add(Fields& fields, tw_quantise_problem& problem) {
  for (std::int64_t* field : {&problem.m, &problem.k, &problem.batch, &problem.scale_rows}) {
    fields.push_back(field);
  }
  for (tw_matrix* matrix : {&problem.source, &problem.elements, &problem.scales}) {
    add(fields, *matrix);
  }
}

// What happened of the calls that `call` makes with every two extremes in `problem`.
template <class Problem, class Call>
void with_every_two_extremes(Problem problem, const Call& call) {
  constexpr std::int64_t extremes[] = {0, -1, std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::int64_t>::max()};
  Fields fields;
  add(fields, problem);
  int good = 0, refused = 0;
  const auto judge = [&](tw_status status) {
    (status == TW_OK ? good : refused)++;
    EXPECT_EQ(status == TW_OK, tw_message()[0] == '\0') << status << ": " << tw_message();
  };
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (const std::int64_t one : extremes) {
        for (const std::int64_t other : extremes) {
          const Problem sound = problem;
          *fields[i] = one;
          *fields[j] = other;
          call(problem, judge);
          problem = sound;
        }
      }
    }
  }
  EXPECT_GT(refused, good);
  EXPECT_GT(good, 0);
}

tw_matrix matrix(unsigned place, std::int64_t columns, tw_type type) {
  return {memory + 256 * place, columns, 1, 0, type};
}

// 4 x 8 x 16, with a source and an auxiliary output.
tw_matmul_problem product(tw_type type) {
  tw_matmul_problem problem;
  tw_matmul_init(&problem, nullptr);
  problem.m = 4;
  problem.n = 8;
  problem.k = 16;
  problem.a = matrix(0, 16, type);
  problem.b = {memory + 256, 1, 16, 0, type};
  problem.d = matrix(2, 8, TW_BF16);
  problem.epilogue.beta = 1;
  problem.epilogue.source = matrix(3, 8, TW_BF16);
  problem.epilogue.auxiliary = matrix(4, 8, TW_BF16);
  return problem;
}

TEST(Extremes, Matmul) {
  with_every_two_extremes(product(TW_BF16), [](const auto& problem, const auto& judge) {
    tw_matmul_plan* plan = nullptr;
    judge(tw_matmul_supported(&problem, nullptr));
    judge(tw_matmul_plan_create(&plan, &problem, nullptr));
    tw_matmul_plan_destroy(plan);
    judge(tw_matmul(&problem, nullptr, nullptr, 0, nullptr));
  });
}

TEST(Extremes, Conv2d) {
  tw_conv2d_problem problem;
  tw_conv2d_init(&problem, nullptr);
  problem.c = problem.k = 8;
  problem.h = problem.w = {6, 3, 2, 2, 1, 1};
  problem.image = memory;
  problem.filter = memory + 1024;
  problem.d = memory + 2560;
  for (const tw_direction direction : {TW_FORWARD, TW_BACKWARD_DATA, TW_BACKWARD_FILTER}) {
    problem.direction = direction;
    with_every_two_extremes(problem, [](const auto& problem, const auto& judge) {
      tw_conv2d_plan* plan = nullptr;
      judge(tw_conv2d_plan_create(&plan, &problem, nullptr));
      tw_conv2d_plan_destroy(plan);
    });
  }
}

TEST(Extremes, Blockwise) {
  tw_blockwise_problem problem;
  tw_blockwise_init(&problem, nullptr);
  problem.matmul = product(TW_E4M3);
  problem.a_scales = {memory + 1280, 4, 1, 1, 1, 0, TW_FP32};
  problem.b_scales = {memory + 1536, 1, 1, 1, 1, 0, TW_FP32};
  with_every_two_extremes(problem, [](const auto& problem, const auto& judge) {
    tw_blockwise_plan* plan = nullptr;
    judge(tw_blockwise_plan_create(&plan, &problem, nullptr));
    tw_blockwise_plan_destroy(plan);
  });
}

tw_grouped_problem groups(std::int64_t count) {
  tw_grouped_problem problem;
  tw_grouped_init(&problem, nullptr);
  problem.matmul = product(TW_E4M3);
  problem.matmul.batch = count;
  problem.matmul.b.batch_stride = 128;
  problem.rows = reinterpret_cast<const std::int32_t*>(memory + 1792);
  problem.row_index = reinterpret_cast<const std::int32_t*>(memory + 2048);
  problem.a_rows = 4;
  problem.a_scales = {memory + 1280, 4, 1, 1, 1, 0, TW_FP32};
  problem.b_scales = {memory + 1536, 1, 1, 1, 1, 1, TW_FP32};
  return problem;
}

TEST(Extremes, Grouped) {
  with_every_two_extremes(groups(2), [](const auto& problem, const auto& judge) {
    tw_grouped_plan* plan = nullptr;
    judge(tw_grouped_plan_create(&plan, &problem, nullptr));
    tw_grouped_plan_destroy(plan);
  });
}

TEST(Extremes, ALineNamesFewGroups) {
  for (const std::int64_t count : {64, 65, 10'000'000}) {
    tw_grouped_plan* plan = nullptr;
    tw_grouped_problem problem = groups(count);
    // Away from everything else; a plan reads no memory.
    problem.matmul.b.data = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
    problem.b_scales.data = reinterpret_cast<void*>(std::uintptr_t{1} << 41);
    problem.rows = reinterpret_cast<const std::int32_t*>(std::uintptr_t{1} << 42);
    ASSERT_EQ(tw_grouped_plan_create(&plan, &problem, nullptr), TW_OK) << tw_message();
    const std::string line = tw_grouped_plan_command(plan);
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 63) << line.substr(0, 1000);
    EXPECT_EQ(line.find("# 64 of " + std::to_string(count) + " groups") != std::string::npos,
              count > 64)
        << line.substr(0, 1000);
    tw_grouped_plan_destroy(plan);
  }
}

TEST(Extremes, Attention) {
  tw_attention_problem problem;
  tw_attention_init(&problem, nullptr);
  problem.head_size = 16;
  problem.queries = problem.keys = 4;
  problem.q = matrix(0, 16, TW_BF16);
  problem.k = matrix(1, 16, TW_BF16);
  problem.v = matrix(2, 16, TW_BF16);
  problem.output = matrix(3, 16, TW_BF16);
  with_every_two_extremes(problem, [](const auto& problem, const auto& judge) {
    tw_attention_plan* plan = nullptr;
    judge(tw_attention_plan_create(&plan, &problem, nullptr));
    tw_attention_plan_destroy(plan);
  });
}

TEST(Extremes, Quantise) {
  tw_quantise_problem problem;
  tw_quantise_init(&problem, nullptr);
  problem.m = 4;
  problem.k = 16;
  problem.source = matrix(0, 16, TW_BF16);
  problem.elements = matrix(1, 16, TW_E4M3);
  problem.scales = matrix(2, 1, TW_FP32);
  with_every_two_extremes(problem, [](const auto& problem, const auto& judge) {
    tw_quantise_plan* plan = nullptr;
    judge(tw_quantise_plan_create(&plan, &problem, nullptr));
    tw_quantise_plan_destroy(plan);
  });
}

}  // namespace
}  // namespace tw::tests
