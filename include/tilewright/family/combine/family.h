// Rows that experts made, added up for each token: the description of its problem.
#pragma once

#include "tilewright/family/combine/problem.h"
#include "tilewright/launch/more_fields.h"

namespace tw {

struct CombineFamily {
  using Problem = tw_combine_problem;

  static constexpr IntegerField numbers[] = {
      number<&Problem::tokens>(
          "tokens", {.meaning = "rows of the output", .usual = 20, .limit = (1 << 20) + 1}),
      number<&Problem::columns>("columns", {.meaning = "of all matrices", .usual = 512}),
      number<&Problem::k>(
          "k", {.meaning = "rows of each token", .usual = 4, .initial = 2, .low = 1, .limit = 17}),
      number<&Problem::rows>("rows", {.meaning = "of the source", .usual = 80})};

  static constexpr bool has_addend(const Problem& p) { return p.addend.data != nullptr; }
  static constexpr Rule rules[] = {rule(
      [](const Problem& p) {
        return p.output.type == p.source.type && (!has_addend(p) || p.addend.type == p.source.type);
      },
      [](const Problem&) {
        return sentence("The types of source, output and addend must be the same.");
      })};

  enum TensorIndex : unsigned { source, addend, weights, places, output };
  static constexpr Types types = {ElementType::Bf16, ElementType::Fp16};
  static constexpr TensorField tensors[] = {
      reads<&Problem::source>("source", {.title = "the source", .types = types},
                              [](const Problem& p) {
                                return TensorExtents{1, p.rows, p.columns};
                              }),
      optional(where([](const Problem& p) { return has_addend(p); },
                     reads<&Problem::addend>("addend", {.title = "the addend", .types = types},
                                             [](const Problem& p) {
                                               return TensorExtents{1, p.tokens, p.columns};
                                             }))),
      optional(where([](const Problem& p) { return p.weights != nullptr; },
                     vector_of<&Problem::weights>(
                         "weights", "the vector of weights", ElementType::Fp32,
                         [](const Problem& p) { return saturated_product(p.tokens, p.k); }))),
      integers<&Problem::places>("places", "the vector of places",
                                 [](const Problem& p) { return saturated_product(p.tokens, p.k); }),
      writes<&Problem::output>("output", {.title = "the output", .types = types},
                               [](const Problem& p) {
                                 return TensorExtents{1, p.tokens, p.columns};
                               })};

  static constexpr Description description = {
      "combine",       "rows of a token's experts, weighted and added up",
      "combines this", sizeof(Problem),
      numbers,         {},
      rules,           tensors};
};

}  // namespace tw
