// Few queries of attention on the virtual GPU: the shapes that kernels for them are tested with,
// and what is expected of each.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/programs/attention_virtual.h"
#include "tests/vgpu/support.h"

namespace tw::programs {

// Keys that end before, at and behind the ends of blocks and parts; heads and queries that fill a
// tile, or leave columns of it to nobody. Where `value_columns` is not 0, values are so many of the
// first columns of keys.
inline std::vector<AttentionShape> few_queries(int columns, int value_columns = 0) {
  std::vector<AttentionShape> shapes = {
      {.queries = {1}, .keys = {1}},
      {.heads = 4, .queries = {1}, .keys = {300}},
      {.heads = 14, .key_heads = 2, .queries = {1, 1}, .keys = {128, 128}},
      {.heads = 4, .key_heads = 2, .queries = {3}, .keys = {321}, .causal = true},
      {.heads = 6, .key_heads = 2, .queries = {11}, .keys = {70}, .causal = true},
      {.heads = 2, .queries = {4}, .keys = {600}, .causal = true, .window = 200},
      // More queries than keys: the first see none.
      {.queries = {5}, .keys = {2}, .causal = true},
      {.heads = 3, .queries = {2}, .keys = {0}},
  };
  for (AttentionShape& shape : shapes) {
    shape.columns = columns;
    shape.value_columns = value_columns;
  }
  return shapes;
}

// Every way of landing with each of so many seeds.
inline std::vector<vgpu::Options> schedules(std::uint64_t seeds) {
  std::vector<vgpu::Options> all;
  for (const vgpu::Landing landing : test::every_landing) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      vgpu::Options& options = all.emplace_back();
      options.landing = landing;
      options.seed = seed;
    }
  }
  return all;
}

template <class Named>
void expect_exact(const AttentionShape& shape, const vgpu::Options& options,
                  const LaunchOrder& order = {}) {
  AttentionCase data(shape);
  data.fill_one_hot(options.seed);
  if (Named::config.has_bytes_of_values()) data.to_bytes();
  ASSERT_TRUE(test::clean(run_attention<Named>(data, options, order)))
      << data.q.rows << " x " << data.k.rows << ", seed " << options.seed;
  ASSERT_EQ(data.wrong_one_hot(), 0)
      << data.q.rows << " x " << data.k.rows << ", seed " << options.seed;
}

template <class Named>
void expect_within_bound(const AttentionShape& shape) {
  AttentionCase data(shape);
  data.fill_random(1);
  if (Named::config.has_bytes_of_values()) data.to_bytes();
  ASSERT_TRUE(test::clean(run_attention<Named>(data, {})));
  EXPECT_LE(data.worst_error(), 1) << data.q.rows << " x " << data.k.rows;
}

}  // namespace tw::programs
