// Attention of e4m3 whose sums of several blocks join in shared memory, by the hardware's own
// arithmetic: where they join, and that they do.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/families/attention.h"
#include "tests/families/schedule.h"
#include "tilewright/family/attention/kernel.h"
#include "vgpu/machine/exact_products.h"

namespace tw::tests {
namespace {

using Family = AttentionFamily;
using Problem = tw_attention_problem;

const AttentionConfig& attention_config(const Instance& instance) {
  return *static_cast<const AttentionConfig*>(instance.facts);
}

template <class Body>
void each_that_joins(const Body& body) {
  int count = 0;
  for (const Instance& instance : attention_instances()) {
    if (attention_config(instance).summed_blocks < 2) continue;
    body(instance,
         std::int64_t{attention_config(instance).summed_blocks} * attention_config(instance).keys);
    ++count;
  }
  EXPECT_GT(count, 0);
}

Case one_head(const Instance& instance, std::int64_t queries, std::int64_t keys, bool causal) {
  Case made = usual_case(attention_trial, instance);
  auto& problem = made.as<Problem>();
  problem.sequences = problem.heads = problem.key_heads = 1;
  problem.queries = queries;
  problem.keys = keys;
  problem.causal = causal;
  made.fill = Fill::Normal;
  EXPECT_TRUE(serves(made).is_good()) << serves(made).sentence();
  return made;
}

// The last `queries` alone are given.
HostMatrix output_of(HostProblem data, const Instance& instance, std::int64_t queries) {
  AnyProblem placed = data.placed();
  auto& problem = placed.as<Problem>();
  for (tw_matrix* const matrix : {&problem.q, &problem.output}) {
    const std::int64_t bytes = matrix->type == TW_E4M3 ? 1 : 2;
    matrix->data = static_cast<std::byte*>(matrix->data) +
                   (problem.queries - queries) * matrix->row_stride * bytes;
  }
  problem.queries = queries;
  Checked checked;
  Status status = check(checked, Family::description, placed.data());
  vgpu::Report report;
  const vgpu::ExactProducts exact;
  if (status.is_good()) status = instance.simulate(checked, {}, schedule(1), report);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  EXPECT_TRUE(report.findings.empty() && report.incomplete.empty());
  return data.tensor(Family::output);
}

// A tile's last block of keys depends on where the call begins; the bits of its rows do not.
TEST(AttentionSums, JoinAtTheSameKeysInEveryCall) {
  each_that_joins([](const Instance& instance, std::int64_t) {
    // The first tile of 128 rows ends at row 127, or at row 237.
    const HostProblem data(one_head(instance, 250, 1000, true));
    const HostMatrix all = output_of(data, instance, 250), last = output_of(data, instance, 140);
    int different = 0;
    for (std::int64_t row = 110; row < 250; ++row) {
      for (std::int64_t column = 0; column < all.columns; ++column) {
        different += all.at(0, row, column) != last.at(0, row, column);
      }
    }
    EXPECT_EQ(different, 0) << instance.name;
  });
}

// Three sums join. Beside the first, which is that of the last keys, ones are less than what the
// tensor core keeps; the last takes it away again. What is left are the ones of the second.
TEST(AttentionSums, ThoseOfOtherKeysAreKeptApart) {
  each_that_joins([](const Instance& instance, std::int64_t summed) {
    const std::int64_t queries = 9;
    HostProblem data(one_head(instance, queries, 3 * summed, false));
    data.tensor(Family::k).fill([](auto...) { return 0; });
    data.tensor(Family::v).fill([&](std::int64_t, std::int64_t row, std::int64_t) {
      if (row / summed == 1) return 1;
      if (row < 64) return -448;
      return row >= 3 * summed - 64 ? 448 : 0;
    });
    data.tensor(Family::v_scales).fill([](auto...) { return 1; });
    const HostMatrix found = output_of(data, instance, queries);
    for (std::int64_t row = 0; row < queries; ++row) {
      for (std::int64_t column = 0; column < found.columns; ++column) {
        ASSERT_NEAR(found.at(0, row, column), 1.0 / 3, 0x1p-10)
            << instance.name << ", row " << row << ", column " << column;
      }
    }
  });
}

// Random problems have sums that join more than once, of one length and of several.
TEST(AttentionSums, OfRandomProblemsJoinTwice) {
  each_that_joins([](const Instance& instance, std::int64_t summed) {
    Random random(1);
    int of_one_length = 0, of_several = 0;
    for (int i = 0; i < 60; ++i) {
      const Case made = random_case(attention_trial, instance, random);
      const auto& lengths = made.lists[Family::key_lengths];
      if (lengths.empty()) {
        of_one_length += made.problem.as<Problem>().keys > 2 * summed;
      } else {
        of_several += *std::max_element(lengths.begin(), lengths.end()) > 2 * summed;
      }
    }
    EXPECT_GE(of_one_length, 3) << instance.name;
    EXPECT_GE(of_several, 3) << instance.name;
  });
}

}  // namespace
}  // namespace tw::tests
