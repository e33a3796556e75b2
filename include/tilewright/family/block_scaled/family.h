// Products of elements with block scales: the description of their problem.
#pragma once

#include "tilewright/family/block_scaled/problem.h"
#include "tilewright/launch/block_scale_fields.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/product_fields.h"

namespace tw {

// A problem states its rows and scales so.
struct AlwaysBlockScaled {
  using Problem = tw_block_scaled_problem;
  static constexpr std::int64_t rows_of_a(const Problem& p) { return p.matmul.m; }
  static constexpr std::int64_t matrices_of_a(const Problem& p) { return p.matmul.batch; }
  static constexpr bool has_block_scales(const Problem&) { return true; }
  static constexpr BlockScaleWords block_scale_words = {
      "type of the scales: ue8m0 or ue4m3",
      {"a_scales", "the scales of A", "the array of scales of A"},
      {"b_scales", "the scales of B", "the array of scales of B"}};
};

struct BlockScaledFamily {
  using Problem = tw_block_scaled_problem;
  using Matmul = tw_matmul_problem;
  using Product = ProductFields<&Problem::matmul>;
  using BlockScales = BlockScaleFields<AlwaysBlockScaled, &Problem::a_scales, &Problem::b_scales>;

  static constexpr ScaleExtent d_scale_extent(const Problem& p) {
    return ScaleExtent::of(p.matmul.m, p.matmul.n, ScaleType::Ue8m0);
  }

  static constexpr IntegerField numbers[] = {
      Product::m, Product::n, usually(512, Product::k),
      number<&Problem::matmul, &Matmul::batch>("batch",
                                               {.meaning = "matrices", .usual = 1, .initial = 1}),
      BlockScales::type_choice};

  static constexpr Rule rules[] = {
      Product::is_sized, BlockScales::suit_elements,
      rule([](const Problem& p) { return (p.matmul.d.type == TW_E4M3) == (p.d_scales != nullptr); },
           [](const Problem& p) {
             return sentence("D has type {}, but must be e4m3 where it has scales, and only there.",
                             name_of(static_cast<ElementType>(p.matmul.d.type)));
           }),
      rule(
          [](const Problem& p) {
            return p.d_scales == nullptr ||
                   (p.matmul.epilogue.gated == 0 && p.matmul.epilogue.output_scale == 1.0f);
          },
          [](const Problem&) -> std::string {
            return "The scales of D are made from its values: there must be no output_scale, and "
                   "no gate, which would spread a block of columns over two tiles.";
          })};

  enum TensorIndex : unsigned { a, b, a_scales, b_scales, d, d_scales };
  static constexpr TensorField tensors[] = {
      reads<&Problem::matmul, &Matmul::a>(
          "a", {.title = "A", .types = scaled_types, .lines = TensorField::Lines::RowsOrColumns},
          [](const Problem& p) {
            return TensorExtents{p.matmul.batch, p.matmul.m, p.matmul.k};
          }),
      reads<&Problem::matmul, &Matmul::b>(
          "b", {.title = "B", .types = scaled_types, .lines = TensorField::Lines::ColumnsOrRows},
          [](const Problem& p) {
            return TensorExtents{p.matmul.batch, p.matmul.k, p.matmul.n};
          }),
      BlockScales::a,
      BlockScales::b,
      writes<&Problem::matmul, &Matmul::d>(
          "d", {.title = "D", .types = {ElementType::Bf16, ElementType::Fp32, ElementType::E4m3}},
          [](const Problem& p) {
            return TensorExtents{p.matmul.batch, p.matmul.m, Product::output_columns(p)};
          }),
      where([](const Problem& p) { return p.d_scales != nullptr; },
            bytes<&Problem::d_scales>("d_scales", TensorField::Flow::Written, "the scales of D",
                                      "the array of scales of D", [](const Problem& p) {
                                        return scale_bytes(d_scale_extent(p), p.matmul.batch);
                                      }))};
  static constexpr ProductField product = Product::product(a, b, d, [](const Problem& p) {
    return TensorExtents{p.matmul.batch, p.matmul.m, p.matmul.n};
  });

  static constexpr Description description = {"block_scaled",
                                              "elements with block scales: MXFP8, 6, 4 and NVFP4",
                                              "multiplies these elements with block scales",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              rules,
                                              tensors,
                                              &product};
};

}  // namespace tw
