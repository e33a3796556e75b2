// Quantising for FP8 with scales of blocks, and copying without: the description of its problem.
#pragma once

#include "tilewright/family/quantise/problem.h"
#include "tilewright/launch/more_fields.h"

namespace tw {

namespace detail {

// The same tensor, which kernels take at any address, also where others are aligned.
constexpr TensorField anywhere(TensorField tensor) {
  tensor.is_small = true;
  return tensor;
}

}  // namespace detail

struct QuantiseFamily {
  using Problem = tw_quantise_problem;

  static constexpr std::int64_t block = 128;  // elements of k that share a scale
  static constexpr std::int64_t k_blocks(const Problem& p) { return (p.k + block - 1) / block; }
  static constexpr std::int64_t scale_lines(const Problem& p) {
    return copies(p) ? 0 : (p.m + p.scale_rows - 1) / p.scale_rows;
  }
  // Elements are the source's, as they are; their rows may begin elsewhere.
  static constexpr bool copies(const Problem& p) { return p.scale_rows == 0; }

  static constexpr IntegerField numbers[] = {
      number<&Problem::m>("m", {.meaning = "rows", .usual = 200}),
      number<&Problem::k>("k", {.meaning = "columns", .usual = 500}),
      number<&Problem::batch>("batch", {.meaning = "matrices", .usual = 1, .initial = 1}),
      // Its range is a rule of its own.
      number<&Problem::scale_rows>("scale_rows",
                                   {.meaning = "rows that share a scale: 1 or 128; 0 copies",
                                    .usual = 1,
                                    .initial = 1,
                                    .low = INT64_MIN,
                                    .limit = INT64_MAX}),
      flag<&Problem::powers_of_two>("powers_of_two", "scales are powers of two, rounded up")};

  static constexpr Rule rules[] = {
      rule([](const Problem& p) { return copies(p) || p.scale_rows == 1 || p.scale_rows == 128; },
           [](const Problem& p) {
             return sentence("A scale is of {} rows, but must be of 1 or of 128.", p.scale_rows);
           }),
      rule(
          [](const Problem& p) {
            if (copies(p)) return p.elements.type == p.source.type;
            return p.elements.type == TW_E4M3 || p.elements.type == TW_E5M2;
          },
          [](const Problem& p) {
            const auto element = static_cast<ElementType>(p.elements.type);
            if (!copies(p)) {
              return sentence("The elements have type {}, but must be e4m3 or e5m2.",
                              name_of(element));
            }
            return sentence(
                "The elements have type {}, but without scales they have the source's, {}.",
                name_of(element), name_of(static_cast<ElementType>(p.source.type)));
          })};

  enum TensorIndex : unsigned { source, elements, scales };
  static constexpr TensorField tensors[] = {
      detail::anywhere(reads<&Problem::source>(
          "source",
          {.title = "the source",
           .types = {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32}},
          [](const Problem& p) {
            return TensorExtents{p.batch, p.m, p.k};
          })),
      writes<&Problem::elements>("elements",
                                 {.title = "the elements",
                                  .types = {ElementType::E4m3, ElementType::E5m2, ElementType::Bf16,
                                            ElementType::Fp16, ElementType::Fp32},
                                  .one = "the matrix of elements"},
                                 [](const Problem& p) {
                                   return TensorExtents{p.batch, p.m, p.k};
                                 }),
      where([](const Problem& p) { return !copies(p); },
            writes<&Problem::scales>("scales",
                                     {.title = "the scales",
                                      .types = ElementType::Fp32,
                                      .lines = TensorField::Lines::RowsOrColumns,
                                      .one = "the matrix of scales"},
                                     [](const Problem& p) {
                                       return TensorExtents{p.batch, scale_lines(p), k_blocks(p)};
                                     }))};

  static constexpr Description description = {"quantise",
                                              "elements and scales of a matrix, for blockwise",
                                              "quantises this",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              rules,
                                              tensors};
};

}  // namespace tw
