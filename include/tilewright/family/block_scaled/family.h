// Products of elements with block scales: the description of their problem.
#pragma once

#include "tilewright/family/block_scaled/problem.h"
#include "tilewright/launch/product_fields.h"
#include "tilewright/launch/scale_bytes.h"

namespace tw {

struct BlockScaledFamily {
  using Problem = tw_block_scaled_problem;
  using Matmul = tw_matmul_problem;
  using Product = ProductFields<&Problem::matmul>;

  static constexpr ScaleType scale_type(const Problem& p) {
    return static_cast<ScaleType>(p.scale);
  }
  // Blocks of an operand with so many rows, of all matrices of the batch, one behind the other.
  static constexpr TensorExtents scale_extents(const Problem& p, std::int64_t rows) {
    return scale_bytes(ScaleExtent::of(rows, p.matmul.k, scale_type(p)), p.matmul.batch);
  }

  static constexpr ScaleExtent d_scale_extent(const Problem& p) {
    return ScaleExtent::of(p.matmul.m, p.matmul.n, ScaleType::Ue8m0);
  }

  static constexpr IntegerField numbers[] = {
      number<&Problem::matmul, &Matmul::m>("m", {.meaning = "rows of A and D", .usual = 200}),
      Product::n,
      number<&Problem::matmul, &Matmul::k>("k",
                                           {.meaning = "columns of A, rows of B", .usual = 512}),
      number<&Problem::matmul, &Matmul::batch>("batch",
                                               {.meaning = "matrices", .usual = 1, .initial = 1}),
      scale_choice<&Problem::scale>};

  static constexpr Rule rules[] = {
      Product::is_sized,
      rule(
          [](const Problem& p) {
            return scale_type(p) == ScaleType::Ue8m0 ||
                   (p.matmul.a.type == TW_E2M1 && p.matmul.b.type == TW_E2M1);
          },
          [](const Problem& p) {
            return sentence("The scales are ue4m3, which are for e2m1 times e2m1, not {} times {}.",
                            name_of(static_cast<ElementType>(p.matmul.a.type)),
                            name_of(static_cast<ElementType>(p.matmul.b.type)));
          }),
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
      bytes<&Problem::a_scales>("a_scales", TensorField::Flow::Read, "the scales of A",
                                "the array of scales of A",
                                [](const Problem& p) { return scale_extents(p, p.matmul.m); }),
      bytes<&Problem::b_scales>("b_scales", TensorField::Flow::Read, "the scales of B",
                                "the array of scales of B",
                                [](const Problem& p) { return scale_extents(p, p.matmul.n); }),
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
