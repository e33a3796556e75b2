// Which experts take a token, and where its rows lie then: the description of its problem.
#pragma once

#include "tilewright/family/route/problem.h"
#include "tilewright/launch/more_fields.h"

namespace tw {

struct RouteFamily {
  using Problem = tw_route_problem;

  static constexpr std::int64_t most_tokens = 1 << 20, most_experts = 512, most_chosen = 16,
                                most_groups = 32;
  static constexpr const char* scoring_words[] = {"softmax", "sigmoid"};
  static constexpr IntegerField numbers[] = {
      number<&Problem::tokens>(
          "tokens", {.meaning = "rows of the logits", .usual = 100, .limit = most_tokens + 1}),
      number<&Problem::experts>(
          "experts",
          {.meaning = "columns of the logits", .usual = 64, .low = 1, .limit = most_experts + 1}),
      number<&Problem::k>("k", {.meaning = "experts of a token",
                                .usual = 8,
                                .initial = 2,
                                .low = 1,
                                .limit = most_chosen + 1}),
      number<&Problem::groups>(
          "groups",
          {.meaning = "of experts", .usual = 1, .initial = 1, .low = 1, .limit = most_groups + 1}),
      number<&Problem::top_groups>("top_groups", {.meaning = "whose experts may be chosen",
                                                  .usual = 1,
                                                  .initial = 1,
                                                  .low = 1,
                                                  .limit = most_groups + 1}),
      number<&Problem::group_scores>(
          "group_scores",
          {.meaning = "whose sum chooses a group", .usual = 1, .initial = 1, .low = 1, .limit = 3}),
      choice<&Problem::scoring>("scoring", "softmax or sigmoid", scoring_words, "tw_route_scoring"),
      number<&Problem::normalise>(
          "normalise",
          {.meaning = "1: weights are over their sum", .usual = 1, .initial = 1, .limit = 2})};
  static constexpr RealField reals[] = {
      real<&Problem::scale>("scale", "what weights are multiplied by", 1)};

  static constexpr Rule rules[] = {
      rule([](const Problem& p) { return p.experts % p.groups == 0; },
           [](const Problem& p) {
             return sentence("There are {} experts, but must be a multiple of the {} groups.",
                             p.experts, p.groups);
           }),
      rule([](const Problem& p) { return p.top_groups <= p.groups; },
           [](const Problem& p) {
             return sentence("top_groups = {} must be at most groups = {}.", p.top_groups,
                             p.groups);
           }),
      rule([](const Problem& p) { return p.k <= p.experts / p.groups * p.top_groups; },
           [](const Problem& p) {
             return sentence("k = {} must be at most {}, the experts of {} groups.", p.k,
                             p.experts / p.groups * p.top_groups, p.top_groups);
           }),
      rule([](const Problem& p) { return p.group_scores <= p.experts / p.groups; },
           [](const Problem& p) {
             return sentence("group_scores = {} must be at most {}, the experts of a group.",
                             p.group_scores, p.experts / p.groups);
           }),
      rule(
          [](const Problem& p) {
            return p.scoring == TW_SIGMOID || (p.bias == nullptr && p.group_scores == 1);
          },
          [](const Problem& p) {
            if (p.bias != nullptr) {
              return sentence("A bias is added to sigmoids alone, but the scores are softmaxes.");
            }
            return sentence(
                "group_scores = {} are added of sigmoids alone; the softmaxes of a "
                "group are compared by the best.",
                p.group_scores);
          }),
      rule([](const Problem& p) { return p.scale >= -3.4e38f && p.scale <= 3.4e38f; },
           [](const Problem& p) { return sentence("scale = {} must be a number.", p.scale); })};

  enum TensorIndex : unsigned { logits, bias, weights, chosen, places, index, ends };
  static constexpr std::int64_t rows_of(const Problem& p) {
    return saturated_product(p.tokens, p.k);
  }
  static constexpr TensorField tensors[] = {
      reads<&Problem::logits>("logits",
                              {.title = "the logits",
                               .types = {ElementType::Fp32, ElementType::Bf16, ElementType::Fp16},
                               .one = "the matrix of logits"},
                              [](const Problem& p) {
                                return TensorExtents{1, p.tokens, p.experts};
                              }),
      optional(where([](const Problem& p) { return p.bias != nullptr; },
                     vector_of<&Problem::bias>("bias", "the bias", ElementType::Fp32,
                                               [](const Problem& p) { return p.experts; }))),
      written(vector_of<&Problem::weights>("weights", "the vector of weights", ElementType::Fp32,
                                           [](const Problem& p) { return rows_of(p); })),
      written(integers<&Problem::chosen>("chosen", "the vector of chosen experts",
                                         [](const Problem& p) { return rows_of(p); })),
      written(integers<&Problem::places>("places", "the vector of places",
                                         [](const Problem& p) { return rows_of(p); })),
      written(integers<&Problem::index>("index", "the index",
                                        [](const Problem& p) { return rows_of(p); })),
      written(integers<&Problem::ends>("ends", "the vector of ends",
                                       [](const Problem& p) { return p.experts; }))};

  static constexpr Description description = {
      "route",       "experts of tokens, and rows sorted by experts",
      "routes this", sizeof(Problem),
      numbers,       reals,
      rules,         tensors};
};

}  // namespace tw
