// What families that are made of a product share in their descriptions: the numbers and tensors of
// a tw_matmul_problem, which lies at `path` in theirs.
#pragma once

#include "tilewright/launch/description.h"
#include "tilewright/types.h"

namespace tw {

// The product that a problem is, whose epilogue lies at `path`, with tensors of these indices.
// `sums`, which are batch, m and n, and `k` take the problem.
template <auto... path, class SumsOf, class CountOf>
constexpr ProductField product_with(unsigned a, unsigned b, unsigned d, SumsOf sums, CountOf k) {
  using Problem = detail::ProblemAt<path...>;
  return {a,
          b,
          d,
          detail::by_address(sums),
          detail::by_address(k),
          [](const void* problem) -> const tw_epilogue& {
            return detail::at<path...>(*static_cast<const Problem*>(problem));
          },
          [](void* problem) -> tw_epilogue& {
            return detail::at<path...>(*static_cast<Problem*>(problem));
          },
          [](void* problem) {
            tw_epilogue& epilogue = detail::at<path...>(*static_cast<Problem*>(problem));
            epilogue.alpha = epilogue.output_scale = 1.0f;
          }};
}

template <auto... path>
struct ProductFields {
  using Matmul = tw_matmul_problem;
  static constexpr Types operand_types = {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32,
                                          ElementType::Tf32, ElementType::E4m3, ElementType::E5m2,
                                          ElementType::S8,   ElementType::S32};

  static constexpr IntegerField m =
      number<path..., &Matmul::m>("m", {.meaning = "rows of A and D", .usual = 200});
  static constexpr IntegerField n =
      number<path..., &Matmul::n>("n", {.meaning = "columns of B and D", .usual = 200});
  static constexpr IntegerField k =
      number<path..., &Matmul::k>("k", {.meaning = "columns of A, rows of B", .usual = 200});

  static constexpr IntegerField batch = number<path..., &Matmul::batch>(
      "batch", {.meaning = "products side by side", .usual = 1, .initial = 1});

  // The tw_matmul_problem stands inside of another.
  static constexpr Rule is_sized = rule(
      [](const detail::ProblemAt<path..., &Matmul::size>& p) {
        return detail::at<path...>(p).size == sizeof(Matmul);
      },
      [](const detail::ProblemAt<path..., &Matmul::size>& p) {
        return sentence(
            "The size of the problem is {}, but this library's has {} bytes: tw_matmul_init "
            "sets it.",
            detail::at<path...>(p).size, sizeof(Matmul));
      });

  // `extents` take the problem. Kernels read both along k where they may.
  template <class ExtentsOf>
  static constexpr TensorField a(ExtentsOf extents) {
    return detail::matrix<path..., &Matmul::a>(
        "a", TensorField::Flow::Read,
        {.title = "A", .types = operand_types, .lines = TensorField::Lines::RowsOrColumns},
        extents);
  }
  template <class ExtentsOf>
  static constexpr TensorField b(ExtentsOf extents) {
    return detail::matrix<path..., &Matmul::b>(
        "b", TensorField::Flow::Read,
        {.title = "B", .types = operand_types, .lines = TensorField::Lines::ColumnsOrRows},
        extents);
  }
  template <class ExtentsOf>
  static constexpr TensorField d(ExtentsOf extents) {
    return detail::matrix<path..., &Matmul::d>("d", TensorField::Flow::Written,
                                               {.title = "D", .types = operand_types}, extents);
  }
  template <class Problem>
  static constexpr std::int64_t output_columns(const Problem& problem) {
    const Matmul& matmul = detail::at<path...>(problem);
    return matmul.epilogue.gated != 0 ? matmul.n / 2 : matmul.n;
  }

  // With tensors of these indices; `sums` are batch, m and n.
  template <class SumsOf>
  static constexpr ProductField product(unsigned a, unsigned b, unsigned d, SumsOf sums) {
    using Problem = detail::ProblemAt<path..., &Matmul::k>;
    ProductField field = product_with<path..., &Matmul::epilogue>(
        a, b, d, sums, [](const Problem& p) { return detail::at<path..., &Matmul::k>(p); });
    field.initialise = [](void* problem) {
      auto& matmul = detail::at<path...>(*static_cast<Problem*>(problem));
      matmul.size = sizeof matmul;
      matmul.epilogue.alpha = matmul.epilogue.output_scale = 1.0f;
    };
    return field;
  }
};

}  // namespace tw
