// Problems of attention on the host, and what their results must be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tilewright/family/attention/launch.h"
#include "tilewright/family/attention/sm80.h"
#include "tilewright/family/attention/sm90.h"

namespace tw::programs {

struct AttentionShape {
  int heads = 1;
  int key_heads = 1;
  int columns = 64;
  int value_columns = 0;     // above 0: values are so many of the first columns of keys
  std::vector<int> queries;  // one for each sequence
  std::vector<int> keys;
  bool causal = false;
  int window = 0;       // with causal; 0: none
  bool ragged = false;  // lengths are given as ends, and may differ
  // What masks leave to a query is given as a range of its keys, in place of them.
  enum class Ranges { None, OfMasks, Documents, Any };
  Ranges ranges = Ranges::None;
};

// (token,head,column), with poison in front of it, behind it and where nobody wrote.
struct HostHeads {
  static constexpr std::uint16_t poison = 0x7fc1;  // a NaN
  static constexpr std::size_t guard = 64;
  int rows = 0, heads = 0, columns = 0;
  std::vector<std::uint16_t> bits;

  HostHeads() = default;
  HostHeads(int row_count, int head_count, int column_count)
      : rows(row_count), heads(head_count), columns(column_count) {
    bits.assign(static_cast<std::size_t>(rows) * heads * columns + 2 * guard, poison);
  }
  std::size_t index(int row, int head, int column) const {
    return guard + (static_cast<std::size_t>(row) * heads + head) * columns + column;
  }
  void set(int row, int head, int column, float value) {
    bits[index(row, head, column)] = Bf16(value).bits;
  }
  float at(int row, int head, int column) const {
    return static_cast<float>(Bf16::from_bits(bits[index(row, head, column)]));
  }
  // The same as e4m3, with a NaN of it for poison; elements that it has not are rounded.
  std::vector<std::uint8_t> bytes;
  void to_bytes() {
    bytes.assign(bits.size(), 0x7f);
    for (std::size_t i = guard; i < bits.size() - guard; ++i) {
      const E4m3 rounded{static_cast<float>(Bf16::from_bits(bits[i]))};
      bytes[i] = rounded.bits;
      bits[i] = Bf16(static_cast<float>(rounded)).bits;
    }
  }

  // Heads side by side.
  tw_matrix tensor() {
    if (!bytes.empty()) {
      return {bytes.data() + guard, std::int64_t{heads} * columns, 1, columns, TW_E4M3};
    }
    return {bits.data() + guard, std::int64_t{heads} * columns, 1, columns, TW_BF16};
  }
  bool guards_hold() const {
    const auto is_poison = [](std::uint16_t value) { return value == poison; };
    return std::all_of(bits.begin(), bits.begin() + guard, is_poison) &&
           std::all_of(bits.end() - guard, bits.end(), is_poison);
  }
};

// `staged` bytes of a row of the output are stored at a time, where they are staged at all.
template <unsigned rows, unsigned key_count, unsigned columns, unsigned staged = 128,
          Scheduling how = Scheduling::Static, class PageType = Sm90Attention>
struct AttentionTile {
  using Page = PageType;
  static constexpr AttentionConfig config = {.tiling = {.m = rows, .n = columns},
                                             .keys = key_count,
                                             .scheduling = how,
                                             .staged_bytes = staged};
};

template <unsigned rows, unsigned key_count, unsigned columns>
using AttentionTile80 =
    AttentionTile<rows, key_count, columns, 128, Scheduling::Static, Sm80Attention>;

// Lengths, heads and masks, on tiles that do not fit them. Lengths on the device need a static
// schedule.
template <class Named>
std::vector<AttentionShape> attention_shapes() {
  constexpr int columns = Named::config.tiling.n;
  std::vector<AttentionShape> shapes = {
      {.columns = columns, .queries = {1}, .keys = {1}},
      {.columns = columns, .queries = {70}, .keys = {100}},
      {.heads = 4, .key_heads = 2, .columns = columns, .queries = {130, 130}, .keys = {200, 200}},
      {.heads = 2, .columns = columns, .queries = {200}, .keys = {200}, .causal = true},
      {.columns = columns, .queries = {40}, .keys = {321}, .causal = true},
      {.columns = columns, .queries = {200}, .keys = {350}, .causal = true, .window = 100},
      // More queries than keys: the first see none.
      {.columns = columns, .queries = {190}, .keys = {77}, .causal = true},
      {.columns = columns, .queries = {150}, .keys = {0}},
  };
  if (Named::config.scheduling == Scheduling::Static) {
    shapes.push_back({.heads = 3,
                      .key_heads = 1,
                      .columns = columns,
                      .queries = {5, 0, 129, 1, 64},
                      .keys = {70, 30, 129, 1, 0},
                      .causal = true,
                      .ragged = true});
    shapes.push_back({.heads = 2,
                      .columns = columns,
                      .queries = {64, 1, 33},
                      .keys = {1, 256, 63},
                      .ragged = true});
  }
  return shapes;
}

template <class Named>
AttentionShape random_attention_shape(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](unsigned most) { return static_cast<int>(random() % (most + 1)); };
  AttentionShape shape;
  shape.columns = Named::config.tiling.n;
  shape.key_heads = 1 + up_to(2);
  shape.heads = shape.key_heads * (1 + up_to(3));
  shape.causal = up_to(1) == 1;
  shape.ragged = Named::config.scheduling == Scheduling::Static && up_to(2) > 0;
  const int sequences = 1 + up_to(3);
  const int queries = 1 + up_to(500), keys = up_to(900);
  for (int i = 0; i < sequences; ++i) {
    shape.queries.push_back(shape.ragged ? up_to(400) : queries);
    shape.keys.push_back(shape.ragged ? up_to(700) : keys);
  }
  return shape;
}

// The workspace has the counter of schedules that ask, or what kernels need that take keys in
// parts.
template <class Kernel, class Encode>
Status plan_attention(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                      const tw_attention_problem& problem, unsigned clusters,
                      const Workspace& workspace, const Encode& encode,
                      const LaunchOrder& order = {}) {
  Checked checked;
  if (Status status = check(checked, AttentionFamily::description, &problem); !status.is_good()) {
    return status;
  }
  return AttentionLaunch::plan<Kernel>(params, grid, checked, order, clusters, workspace, encode);
}
template <class Kernel>
std::size_t attention_workspace(const tw_attention_problem& problem,
                                const LaunchOrder& order = {}) {
  Checked checked;
  const Status status = check(checked, AttentionFamily::description, &problem);
  return std::max<std::size_t>(
      status.is_good() ? AttentionLaunch::workspace<Kernel>(checked, order) : 0, 8);
}

class AttentionCase {
 public:
  AttentionShape shape;
  HostHeads q, k, v, output;
  std::vector<float> log_sums;  // (head,token), NaN where nobody wrote
  std::vector<std::int32_t> query_ends, key_ends;
  std::vector<std::int32_t> range_begins, range_ends;  // each row of queries has one
  float scale = 1;
  bool has_values;  // the keys

  explicit AttentionCase(const AttentionShape& given) : shape(given) {
    int query_rows = 0, key_rows = 0;
    for (std::size_t i = 0; i < shape.queries.size(); ++i) {
      query_ends.push_back(query_rows += shape.queries[i]);
      key_ends.push_back(key_rows += shape.keys[i]);
    }
    q = HostHeads(query_rows, shape.heads, shape.columns);
    k = HostHeads(key_rows, shape.key_heads, shape.columns);
    has_values = shape.value_columns > 0;
    v = HostHeads(has_values ? 0 : key_rows, shape.key_heads, shape.columns);
    output = HostHeads(query_rows, shape.heads, has_values ? shape.value_columns : shape.columns);
    log_sums.assign(static_cast<std::size_t>(query_rows) * shape.heads,
                    std::numeric_limits<float>::quiet_NaN());
    if (shape.ranges == AttentionShape::Ranges::None) return;
    for (std::size_t s = 0; s < shape.queries.size(); ++s) {
      for (int i = 0; i < shape.queries[s]; ++i) {
        const auto [first, end] = range_of(s, i);
        // Numbers that no sequence has are taken as the nearest.
        range_begins.push_back(first == 0 && i % 3 == 1 ? -5 : first);
        range_ends.push_back(end == shape.keys[s] && i % 3 == 1 ? end + 100 : end);
      }
    }
  }

  tw_attention_problem problem() {
    tw_attention_problem made = {};
    made.size = sizeof made;
    made.heads = shape.heads;
    made.key_heads = shape.key_heads;
    made.head_size = shape.columns;
    made.sequences = static_cast<int>(shape.queries.size());
    made.queries = shape.ragged ? q.rows : shape.queries[0];
    made.keys = shape.ragged ? k.rows : shape.keys[0];
    if (shape.ragged) {
      made.query_ends = query_ends.data();
      made.key_ends = key_ends.data();
    }
    if (range_begins.empty()) {
      made.causal = shape.causal;
      made.window = shape.window;
    } else {
      made.range_begins = range_begins.data();
      made.range_ends = range_ends.data();
    }
    made.scale = scale;
    made.q = q.tensor();
    made.k = k.tensor();
    if (has_values) {
      made.values_in_keys = 1;
      made.value_size = shape.value_columns;
    } else {
      made.v = v.tensor();
    }
    made.output = output.tensor();
    made.log_sums = {log_sums.data(), q.rows, 1, 0, TW_FP32};
    return made;
  }

  // Keys and values become e4m3.
  void to_bytes() {
    k.to_bytes();
    v.to_bytes();
  }

  // The keys that query i of a sequence sees. Documents are 50 tokens long, and a query sees those
  // before it of its own. Any ranges begin and end anywhere; every seventh is empty.
  std::pair<int, int> range_of(std::size_t s, int i) const {
    const int keys = shape.keys[s], behind = shape.queries[s] - 1 - i;
    if (shape.ranges == AttentionShape::Ranges::Any) {
      const int first = i * 37 % (keys + 1);
      return {first, i % 7 == 3 ? first : first + i * 53 % (keys - first + 1)};
    }
    const bool in_documents = shape.ranges == AttentionShape::Ranges::Documents;
    const int end = shape.causal || in_documents ? std::max(keys - behind, 0) : keys;
    if (in_documents) return {std::max(end - 1, 0) / 50 * 50, end};
    return {shape.window > 0 ? std::max(end - shape.window, 0) : 0, end};
  }
  // Calls visit(head, row of all, first key, keys seen).
  template <class Visit>
  void for_each_row(const Visit& visit) const {
    for (std::size_t s = 0; s < shape.queries.size(); ++s) {
      const int key_begin = key_ends[s] - shape.keys[s];
      for (int head = 0; head < shape.heads; ++head) {
        for (int i = 0; i < shape.queries[s]; ++i) {
          const auto [first, end] = range_of(s, i);
          visit(head, query_ends[s] - shape.queries[s] + i, key_begin + first, end - first);
        }
      }
    }
  }
  // Where the sequence begins that the key is of.
  int key_begin_of(int key) const {
    int begin = 0;
    for (const std::int32_t end : key_ends) {
      if (key >= end) begin = end;
    }
    return begin;
  }
  float value_at(int row, int head, int column) const {
    return (has_values ? k : v).at(row, head, column);
  }
  int key_head(int head) const { return head / (shape.heads / shape.key_heads); }

  // Every query picks one key that it sees: its row of V, integers but zero, comes out bit by bit.
  // Queries of even rows pick any key by a code: key j has the digits of j as 1 and -1 in half of
  // the columns, a query repeats them. Those of odd rows pick the last key that they see: in the
  // other half key j has the digits of j as 1 and 0, a query their weights, so that scores grow
  // with j; those of every fourth row pick the first, by negative weights. Others weigh e to the
  // -16 at most.
  void fill_one_hot(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const int half = shape.columns / 2;
    // Where the digits are values, too, none of them is zero.
    const int least = has_values ? 1 : 0;
    const auto digit = [](int number, int column) { return number >> (column % 12) & 1; };
    for (std::size_t s = 0; s < shape.keys.size(); ++s) {
      for (int j = 0; j < shape.keys[s]; ++j) {
        const int row = key_ends[s] - shape.keys[s] + j;
        for (int head = 0; head < shape.key_heads; ++head) {
          for (int column = 0; column < shape.columns; ++column) {
            const int counted = column - half;
            k.set(row, head, column,
                  counted < 0    ? static_cast<float>(2 * digit(j, column) - 1)
                  : counted < 12 ? static_cast<float>(digit(j, counted) + least)
                                 : 0.0f);
            // Columns of keys without a digit are no query's, and may be any values.
            if (has_values && counted < 12) continue;
            const float magnitude = static_cast<float>(1 + random() % 127);
            (has_values ? k : v).set(row, head, column, random() % 2 == 0 ? magnitude : -magnitude);
          }
        }
      }
    }
    scale = 16;
    picked.assign(log_sums.size(), -1);
    expected_log_sums.assign(log_sums.size(), -std::numeric_limits<float>::infinity());
    for_each_row([&](int head, int row, int first_key, int seen) {
      const bool last = row % 2 == 1, first = row % 4 == 2;
      const int any = seen > 0 ? static_cast<int>(random() % static_cast<unsigned>(seen)) : 0;
      const std::size_t at = static_cast<std::size_t>(head) * q.rows + row;
      const int picks = first_key + (last ? seen - 1 : first ? 0 : any);
      const int j = picks - key_begin_of(picks);
      if (seen > 0) {
        picked[at] = picks;
        const int counted = j + 4095 * least;
        expected_log_sums[at] = scale * static_cast<float>(last    ? counted
                                                           : first ? -counted
                                                                   : half);
      }
      for (int column = 0; column < shape.columns; ++column) {
        const int counted = column - half;
        const float code = counted < 0 ? static_cast<float>(2 * digit(j, column) - 1) : 0;
        const float weight = counted >= 0 && counted < 12 ? static_cast<float>(1 << counted) : 0;
        q.set(row, head, column, last ? weight : first ? -weight : code);
      }
    });
  }
  std::vector<int> picked;  // (head,token): the row of K and V; -1: none
  std::vector<float> expected_log_sums;
  std::int64_t wrong_one_hot() const {
    std::int64_t wrong = output.guards_hold() ? 0 : 1;
    for_each_row([&](int head, int row, int, int) {
      const std::size_t at = static_cast<std::size_t>(head) * q.rows + row;
      for (int column = 0; column < output.columns; ++column) {
        const float expected = picked[at] < 0 ? 0 : value_at(picked[at], key_head(head), column);
        wrong += output.at(row, head, column) != expected;
      }
      const float log_sum = expected_log_sums[at];
      wrong += picked[at] < 0
                   ? log_sums[at] != log_sum
                   : !(std::abs(log_sums[at] - log_sum) <= std::abs(log_sum) * 0x1p-20f + 0x1p-20f);
    });
    return wrong;
  }

  void fill_random(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    for (HostHeads* tensor : {&q, &k, &v}) {
      for (int row = 0; row < tensor->rows; ++row) {
        for (int head = 0; head < tensor->heads; ++head) {
          for (int column = 0; column < tensor->columns; ++column) {
            tensor->set(row, head, column, normal(random));
          }
        }
      }
    }
    scale = 1 / std::sqrt(static_cast<float>(shape.columns));
  }

  // The largest error against float64, as a share of what rounding allows: weights are rounded to
  // bf16 (2^-9 of each, and of the sum of |weight value|), the result once more, and the rest is
  // float32. Above 1 is wrong. NaN anywhere counts as infinite.
  double worst_error() const {
    double worst = output.guards_hold() ? 0 : std::numeric_limits<double>::infinity();
    for_each_row([&](int head, int row, int key_begin, int seen) {
      const int of = key_head(head);
      std::vector<double> scores(static_cast<std::size_t>(seen));
      double maximum = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int j = 0; j < seen; ++j) {
        double score = 0;
        for (int c = 0; c < shape.columns; ++c) {
          score += double{q.at(row, head, c)} * k.at(key_begin + j, of, c);
        }
        scores[j] = score * scale;
        maximum = std::max(maximum, scores[j]);
      }
      for (double& score : scores) sum += score = std::exp(score - maximum);
      for (int c = 0; c < output.columns; ++c) {
        double expected = 0, magnitude = 0;
        for (int j = 0; j < seen; ++j) {
          const double term = scores[j] / sum * value_at(key_begin + j, of, c);
          expected += term;
          magnitude += std::abs(term);
        }
        const double bound = std::abs(expected) * 0x1p-8 + magnitude * (0x1p-8 + 0x1p-12) + 1e-30;
        const double error = std::abs(output.at(row, head, c) - expected) / bound;
        worst =
            std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
      }
      const double log_sum = seen > 0 ? maximum + std::log(sum) : maximum;
      const float given = log_sums[static_cast<std::size_t>(head) * q.rows + row];
      const bool same = seen > 0 ? std::abs(given - log_sum) < 1e-4 : given == log_sum;
      if (!same) worst = std::numeric_limits<double>::infinity();
    });
    return worst;
  }
};

}  // namespace tw::programs
