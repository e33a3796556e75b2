// Rows divided by the root of the mean of their squares: the description of its problem.
#pragma once

#include "tilewright/family/rms_norm/problem.h"
#include "tilewright/launch/more_fields.h"

namespace tw {

struct RmsNormFamily {
  using Problem = tw_rms_norm_problem;

  static constexpr IntegerField numbers[] = {
      number<&Problem::m>("m", {.meaning = "rows", .usual = 20}),
      number<&Problem::k>("k", {.meaning = "columns", .usual = 512})};
  static constexpr RealField reals[] = {
      real<&Problem::epsilon>("epsilon", "what the mean of squares is raised by", 1e-5)};

  static constexpr bool has_residual(const Problem& p) { return p.residual.data != nullptr; }
  static constexpr Rule rules[] = {
      rule([](const Problem& p) { return p.epsilon >= 0 && p.epsilon <= 3.4e38f; },
           [](const Problem& p) {
             return sentence("epsilon = {} must be a positive number, or 0.", p.epsilon);
           }),
      rule(
          [](const Problem& p) {
            const auto is_like = [&](tw_type type) { return type == p.source.type; };
            return is_like(p.weight_type) && is_like(p.output.type) &&
                   (!has_residual(p) || (is_like(p.residual.type) && is_like(p.sum.type)));
          },
          [](const Problem&) {
            return sentence(
                "The types of source, weight, output, residual and sum must be the same.");
          })};

  enum TensorIndex : unsigned { source, weight, residual, output, sum };
  static constexpr Types types = {ElementType::Bf16, ElementType::Fp16};
  static constexpr TensorExtents extents(const Problem& p) { return {1, p.m, p.k}; }
  static constexpr TensorField tensors[] = {
      reads<&Problem::source>("source", {.title = "the source", .types = types},
                              [](const Problem& p) { return extents(p); }),
      dense<&Problem::weight, &Problem::weight_type>("weight", TensorField::Flow::Read,
                                                     {.title = "the weight", .types = types},
                                                     [](const Problem& p) {
                                                       return TensorExtents{1, 1, p.k};
                                                     }),
      optional(
          where([](const Problem& p) { return has_residual(p); },
                reads<&Problem::residual>("residual", {.title = "the residual", .types = types},
                                          [](const Problem& p) { return extents(p); }))),
      writes<&Problem::output>("output", {.title = "the output", .types = types},
                               [](const Problem& p) { return extents(p); }),
      where([](const Problem& p) { return has_residual(p); },
            writes<&Problem::sum>("sum", {.title = "the sum", .types = types},
                                  [](const Problem& p) { return extents(p); }))};

  static constexpr Description description = {"rms_norm",
                                              "rows over the root of their mean square",
                                              "normalises this",
                                              sizeof(Problem),
                                              numbers,
                                              reals,
                                              rules,
                                              tensors};
};

}  // namespace tw
