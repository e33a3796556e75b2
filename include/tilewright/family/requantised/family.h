// FP8 with scales of blocks and a quantised D: the description of its problem.
#pragma once

#include "tilewright/family/requantised/problem.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/scaled_product_fields.h"

namespace tw {

struct RequantisedFamily : ScaledProductFields<tw_requantised_problem> {
  using Fields = ScaledProductFields<Problem>;
  static constexpr std::int64_t blocks(const Problem& p) { return (p.matmul.n + 127) / 128; }

  static constexpr auto numbers =
      joined(Fields::numbers, {flag<&Problem::powers_of_two>(
                                  "powers_of_two", "scales of D are powers of two, rounded up")});

  static constexpr auto rules = joined(
      Fields::rules,
      {rule([](const Problem& p) { return p.matmul.d.type == TW_E4M3; },
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
            })});

  static constexpr unsigned d_scales = std::size(Fields::tensors);
  static constexpr auto tensors = joined(
      Fields::tensors,
      {writes<&Problem::d_scales>("d_scales",
                                  {.title = "the scales of D",
                                   .types = ElementType::Fp32,
                                   .lines = TensorField::Lines::RowsOrColumns,
                                   .one = "the matrix of scales of D"},
                                  [](const Problem& p) {
                                    return TensorExtents{p.matmul.batch, p.matmul.m, blocks(p)};
                                  })});

  static constexpr Description description = {"requantised",
                                              "blockwise, and D quantised for the next product",
                                              "computes this product and quantises it",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              rules,
                                              tensors,
                                              &product};
};

}  // namespace tw
