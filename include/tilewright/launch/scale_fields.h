// Scales of blocks of 128 of k, in descriptions: a tw_scales is a tensor whose extents the caller
// states, and a rule that they are those of its operand.
#pragma once

#include "tilewright/launch/more_fields.h"

namespace tw {

// Scales of an operand with so many rows, of which `rows_of_scale` share one.
struct ScalesOfBlocks {
  const char* name;  // "scales of A"
  std::int64_t extent, rows_of_scale, k;

  constexpr std::int64_t rows() const { return (extent - 1) / rows_of_scale + 1; }
  constexpr std::int64_t k_blocks() const { return (k - 1) / 128 + 1; }
  constexpr bool fits(const tw_scales& given) const {
    return given.rows == rows() && given.k_blocks == k_blocks();
  }
  // `otherwise`: what 128 rows that share a scale may have instead.
  std::string complaint(const tw_scales& given, const std::string& otherwise = "") const {
    return sentence("The {} are {} x {}, but must be {} x {}: one for each {} and each 128 of k{}.",
                    name, given.rows, given.k_blocks, rows(), k_blocks(),
                    rows_of_scale == 1 ? "row" : "128 rows", rows_of_scale == 1 ? "" : otherwise);
  }
};

// `batch_of` takes the problem. Kernels count their elements with 31 bits, and load single ones.
template <auto... path, class BatchOf>
constexpr TensorField scales(const char* name, const char* title, BatchOf) {
  using Problem = detail::ProblemAt<path...>;
  return {name,
          title,
          title,
          TensorField::Flow::Read,
          TensorField::Lines::RowsOrColumns,
          ElementType::Fp32,
          [](const void* problem) -> TensorExtents {
            const Problem& given = *static_cast<const Problem*>(problem);
            const tw_scales& scales = detail::at<path...>(given);
            return {BatchOf{}(given), scales.rows, scales.k_blocks};
          },
          [](const void* problem) -> tw_matrix {
            const tw_scales& scales = detail::at<path...>(*static_cast<const Problem*>(problem));
            return {const_cast<void*>(scales.data), scales.row_stride, scales.k_stride,
                    scales.batch_stride, scales.type};
          },
          [](void* problem, const tw_matrix& given) {
            tw_scales& scales = detail::at<path...>(*static_cast<Problem*>(problem));
            scales.data = given.data;
            scales.row_stride = given.row_stride;
            scales.k_stride = given.column_stride;
            scales.batch_stride = given.batch_stride;
            scales.type = given.type;
          },
          nullptr,
          "k_stride",
          std::int64_t{1} << 31,
          false,
          true,
          false,
          false,
          true};
}

// What the scales of a problem's A and B are in its description: fields a_scales and b_scales
// beside a tw_matmul_problem `matmul`. `Operands` have
//   Problem, is_scaled(problem)
//   rows_of_a(problem), matrices_of_a(problem)
template <class Operands>
struct ScaleFields {
  using Problem = typename Operands::Problem;

  static constexpr ScalesOfBlocks of_a(const Problem& p) {
    return {"scales of A", Operands::rows_of_a(p), 1, p.matmul.k};
  }
  static constexpr ScalesOfBlocks of_b(const Problem& p) {
    return {"scales of B", p.matmul.n, p.b_scales.rows == p.matmul.n ? 1 : 128, p.matmul.k};
  }

  // Kernels differ by it; all other extents follow.
  static constexpr IntegerField b_rows = derived<&Problem::b_scales, &tw_scales::rows>(
      "The number of rows of the scales of B", {.low = INT64_MIN, .limit = INT64_MAX});
  static constexpr Rule a_fits =
      rule([](const Problem& p) { return !Operands::is_scaled(p) || of_a(p).fits(p.a_scales); },
           [](const Problem& p) { return of_a(p).complaint(p.a_scales); });
  static constexpr Rule b_fits =
      rule([](const Problem& p) { return !Operands::is_scaled(p) || of_b(p).fits(p.b_scales); },
           [](const Problem& p) {
             return of_b(p).complaint(p.b_scales,
                                      sentence(", or have a row for each of B's {}", p.matmul.n));
           });
  static constexpr TensorField a = where(
      [](const Problem& p) { return Operands::is_scaled(p); },
      scales<&Problem::a_scales>("a_scales", "the scales of A",
                                 [](const Problem& p) { return Operands::matrices_of_a(p); }));
  static constexpr TensorField b = [] {
    TensorField field =
        where([](const Problem& p) { return Operands::is_scaled(p); },
              scales<&Problem::b_scales>("b_scales", "the scales of B",
                                         [](const Problem& p) { return p.matmul.batch; }));
    field.is_of_b = true;
    return field;
  }();

  static constexpr IntegerField numbers[] = {b_rows};
  static constexpr Rule rules[] = {a_fits, b_fits};
  static constexpr TensorField tensors[] = {a, b};
};

}  // namespace tw
