// FP8 with scales of blocks and a quantised D: the description of its problem.
#pragma once

#include <algorithm>

#include "tilewright/family/requantised/problem.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/product_fields.h"
#include "tilewright/launch/scale_fields.h"
#include "tilewright/launch/scaled_product_fields.h"

namespace tw {

// Rows of all groups, or of each matrix of a batch.
struct RequantisedOperands : ScaledOperands<tw_requantised_problem> {
  static constexpr bool in_groups(const Problem& p) { return p.rows != nullptr; }
  static constexpr std::int64_t matrices_of_a(const Problem& p) {
    return in_groups(p) ? std::min<std::int64_t>(p.matmul.batch, 1) : p.matmul.batch;
  }
};

struct RequantisedFamily : RequantisedOperands {
  using Product = ProductFields<&Problem::matmul>;
  using Scales = ScaleFields<RequantisedOperands>;

  static constexpr bool gates_blocks(const Problem& p) { return p.gated_blocks != 0; }
  static constexpr std::int64_t output_columns(const Problem& p) {
    return gates_blocks(p) ? p.matmul.n / 2 : Product::output_columns(p);
  }
  static constexpr std::int64_t blocks(const Problem& p) { return (output_columns(p) + 127) / 128; }
  // alpha and an activation that blocks of gate and up are joined by, and nothing else.
  static constexpr bool joins_plainly(const tw_epilogue& epilogue) {
    return epilogue.beta == 0.0f && epilogue.column_bias == nullptr &&
           epilogue.row_bias == nullptr && epilogue.column_scale == nullptr &&
           epilogue.row_scale == nullptr && epilogue.auxiliary.data == nullptr &&
           epilogue.amax == nullptr &&
           (epilogue.activation == TW_NONE || epilogue.activation == TW_RELU ||
            epilogue.activation == TW_SILU);
  }

  static constexpr auto numbers = joined(
      {Product::m, Product::n, usually(500, Product::k), Product::batch, Scales::b_rows},
      {flag<&Problem::powers_of_two>("powers_of_two", "scales of D are powers of two, rounded up"),
       flag<&Problem::gated_blocks>("gated_blocks",
                                    "blocks of 128 columns are gate and up in turns")});

  static constexpr Rule rules[] = {
      Product::is_sized,
      Scales::a_fits,
      Scales::b_fits,
      rule([](const Problem& p) { return p.matmul.d.type == TW_E4M3; },
           [](const Problem& p) {
             return sentence("D has type {}, but what is quantised again is e4m3.",
                             name_of(static_cast<ElementType>(p.matmul.d.type)));
           }),
      rule([](const Problem& p) { return p.matmul.epilogue.gated == 0; },
           [](const Problem&) {
             return std::string(
                 "The epilogue has a gate, but a block of 128 columns of D would then be spread "
                 "over two tiles: quantise apart.");
           }),
      rule([](const Problem& p) { return p.matmul.epilogue.output_scale == 1.0f; },
           [](const Problem& p) {
             return sentence(
                 "output_scale is {}, but must be 1: the scales of D are made from its values.",
                 p.matmul.epilogue.output_scale);
           }),
      rule([](const Problem& p) { return !gates_blocks(p) || p.matmul.n % 256 == 0; },
           [](const Problem& p) {
             return sentence(
                 "n is {}, but must be a multiple of 256: blocks of 128 columns are gate and up in "
                 "turns.",
                 p.matmul.n);
           }),
      rule(
          [](const Problem& p) { return !gates_blocks(p) || joins_plainly(p.matmul.epilogue); },
          [](const Problem&) {
            return std::string(
                "Blocks of gate and up are joined by alpha and silu, relu or nothing: the epilogue "
                "has more parts, or another activation.");
          })};

  enum TensorIndex : unsigned { a, b, a_scales, b_scales, d, d_scales, rows };
  static constexpr TensorField tensors[] = {
      Product::a([](const Problem& p) {
        return TensorExtents{matrices_of_a(p), p.matmul.m, p.matmul.k};
      }),
      Product::b([](const Problem& p) {
        return TensorExtents{p.matmul.batch, p.matmul.k, p.matmul.n};
      }),
      Scales::a,
      Scales::b,
      Product::d([](const Problem& p) {
        return TensorExtents{matrices_of_a(p), p.matmul.m, output_columns(p)};
      }),
      writes<&Problem::d_scales>("d_scales",
                                 {.title = "the scales of D",
                                  .types = ElementType::Fp32,
                                  .lines = TensorField::Lines::RowsOrColumns,
                                  .one = "the matrix of scales of D"},
                                 [](const Problem& p) {
                                   return TensorExtents{matrices_of_a(p), p.matmul.m, blocks(p)};
                                 }),
      where([](const Problem& p) { return in_groups(p); },
            integers<&Problem::rows>("rows", "the groups' rows",
                                     [](const Problem& p) { return p.matmul.batch; }))};
  static constexpr ProductField product = Product::product(a, b, d, [](const Problem& p) {
    return TensorExtents{in_groups(p) ? 1 : p.matmul.batch, p.matmul.m, p.matmul.n};
  });

  // A launch is priced as if groups had equal shares of the rows.
  static constexpr TensorExtents priced(const Problem& p) {
    const std::int64_t groups = p.matmul.batch;
    if (!in_groups(p) || groups == 0) return {groups, p.matmul.m, p.matmul.n};
    return {groups, (p.matmul.m + groups - 1) / groups, p.matmul.n};
  }

  // A host does not know how large groups are, which only the device reads.
  enum ListIndex : unsigned { sizes };
  static constexpr ListField lists[] = {list("sizes", "A size", "groups",
                                             "rows of each group, for kernels that take groups", "",
                                             [](const Problem&) {
                                               return ListField::Guess{{}, 0};
                                             })};

  static constexpr Description description = {"requantised",
                                              "blockwise, and D quantised for the next product",
                                              "computes this product and quantises it",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              rules,
                                              tensors,
                                              &product,
                                              lists};
};

}  // namespace tw
