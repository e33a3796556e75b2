// Products in groups: the description of their problem.
#pragma once

#include <algorithm>
#include <numeric>

#include "tilewright/family/grouped/problem.h"
#include "tilewright/launch/block_scale_fields.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/product_fields.h"
#include "tilewright/launch/scale_fields.h"

namespace tw {

// A problem states its rows and scales so.
struct GroupedOperands {
  using Problem = tw_grouped_problem;

  static constexpr std::int64_t rows_of_a(const Problem& p) {
    return p.row_index != nullptr ? p.a_rows : p.matmul.m;
  }
  static constexpr bool is_empty(const Problem& p) {
    return std::min({p.matmul.m, p.matmul.n, p.matmul.batch}) == 0;
  }
  static constexpr std::int64_t matrices_of_a(const Problem&) { return 1; }
  static constexpr bool is_scaled(const Problem& p) {
    return (p.a_scales.data != nullptr || p.b_scales.data != nullptr) && p.matmul.k > 0 &&
           !is_empty(p);
  }
  static constexpr bool has_block_scales(const Problem& p) {
    return (p.a_block_scales != nullptr || p.b_block_scales != nullptr) && p.matmul.k > 0 &&
           !is_empty(p);
  }
  static constexpr BlockScaleWords block_scale_words = {
      "type of block scales: ue8m0 or ue4m3",
      {"a_block_scales", "the block scales of A", "the array of block scales of A"},
      {"b_block_scales", "the block scales of B", "the array of block scales of B"}};
  // An operand, of all types that there are kernels for.
  static constexpr TensorField elements(TensorField operand) {
    operand.types.set |= scaled_types.set;
    return operand;
  }
};

struct GroupedFamily : GroupedOperands {
  using Product = ProductFields<&Problem::matmul>;
  using Scales = ScaleFields<GroupedOperands>;
  using BlockScales =
      BlockScaleFields<GroupedOperands, &Problem::a_block_scales, &Problem::b_block_scales>;

  static constexpr IntegerField own_numbers[] = {
      derived<&Problem::matmul, &tw_matmul_problem::m>("m"),
      Product::n,
      Product::k,
      derived<&Problem::matmul, &tw_matmul_problem::batch>("batch", {.initial = 1}),
      number<&Problem::capacity>("capacity",
                                 {.meaning = "rows that each group has room for; 0: its own",
                                  .low = INT64_MIN,
                                  .limit = INT64_MAX}),
      number<&Problem::a_rows>("a_rows", {.meaning = "rows of A, where an instance gathers them",
                                          .usual = 100,
                                          .low = INT64_MIN,
                                          .limit = INT64_MAX})};
  static constexpr auto numbers = joined(own_numbers, Scales::numbers, BlockScales::numbers);

  static constexpr Rule own_rules[] = {
      Product::is_sized,
      rule([](const Problem& p) { return p.capacity >= 0 && p.capacity < std::int64_t{1} << 31; },
           [](const Problem& p) {
             return sentence("The capacity is {} rows, but must be at least 0 and below 2^31.",
                             p.capacity);
           }),
      rule(
          [](const Problem& p) {
            return p.capacity == 0 || is_empty(p) || p.capacity * p.matmul.batch == p.matmul.m;
          },
          [](const Problem& p) {
            return sentence(
                "m is {}, but must be the capacity, {} rows, times the number of groups, {}.",
                p.matmul.m, p.capacity, p.matmul.batch);
          }),
      rule(
          [](const Problem& p) {
            return p.row_index == nullptr || is_empty(p) ||
                   (p.a_rows >= 1 && p.a_rows < std::int64_t{1} << 31);
          },
          [](const Problem& p) {
            return sentence(
                "Rows are gathered from {} rows of A, but must be from at least 1 and below 2^31.",
                p.a_rows);
          })};
  static constexpr auto rules = joined(own_rules, Scales::rules, BlockScales::rules);

  enum TensorIndex : unsigned {
    a,
    b,
    rows,
    row_index,
    a_scales,
    b_scales,
    a_block_scales,
    b_block_scales,
    d
  };
  static constexpr TensorField read_tensors[] = {
      elements(Product::a([](const Problem& p) {
        return TensorExtents{1, rows_of_a(p), p.matmul.k};
      })),
      elements(Product::b([](const Problem& p) {
        return TensorExtents{p.matmul.batch, p.matmul.k, p.matmul.n};
      })),
      integers<&Problem::rows>("rows", "the groups' rows",
                               [](const Problem& p) { return p.matmul.batch; }),
      where([](const Problem& p) { return p.row_index != nullptr; },
            integers<&Problem::row_index>("row_index", "the row index",
                                          [](const Problem& p) { return p.matmul.m; }))};
  static constexpr auto tensors = joined(
      read_tensors, Scales::tensors, BlockScales::tensors, {Product::d([](const Problem& p) {
        return TensorExtents{p.matmul.batch > 0 ? 1 : 0, p.matmul.m, Product::output_columns(p)};
      })});
  static_assert(tensors.size() == d + 1);
  static constexpr ProductField product = Product::product(a, b, d, [](const Problem& p) {
    return TensorExtents{1, p.matmul.m, p.matmul.n};
  });

  // Only the device knows the groups: a launch is priced as if they had equal shares of the rows.
  static constexpr TensorExtents priced(const Problem& p) {
    const std::int64_t groups = p.matmul.batch;
    return {groups, groups > 0 ? (p.matmul.m + groups - 1) / groups : p.matmul.m, p.matmul.n};
  }

  // What lies on the device, where the host only guesses: groups of equal sizes.
  enum ListIndex : unsigned { sizes, spare };
  static ListField::Guess guessed_sizes(const Problem& p) {
    const std::int64_t groups = p.matmul.batch, named = std::min(groups, ListField::most_guessed);
    return {std::vector<std::int64_t>(static_cast<std::size_t>(named),
                                      groups > 0 ? p.matmul.m / groups : 0),
            groups};
  }
  static ListField::Guess guessed_spare(const Problem& p) {
    const std::int64_t groups = p.matmul.batch;
    const bool knows = p.capacity == 0 && groups > 0 && groups <= ListField::most_guessed;
    return {{knows ? p.matmul.m % groups : 0}, 1};
  }
  static constexpr ListField lists[] = {
      list("sizes", "A size", "groups", "rows of each group: 70,0,1", "70,0,1,300,5",
           [](const Problem& p) { return guessed_sizes(p); }),
      list("spare", "--spare", "numbers", "rows behind the last group, where there is no capacity",
           "0", [](const Problem& p) { return guessed_spare(p); })};

  static constexpr Description description = {"grouped",
                                              "groups of rows, each with its own B",
                                              "computes this product in groups",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              rules,
                                              tensors,
                                              &product,
                                              lists};
};

}  // namespace tw
