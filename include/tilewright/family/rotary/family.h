// Rotary embedding, and keys and values stored into a cache: the description of its problem.
#pragma once

#include "tilewright/family/rotary/problem.h"
#include "tilewright/launch/more_fields.h"

namespace tw {

struct RotaryFamily {
  using Problem = tw_rotary_problem;

  static constexpr IntegerField numbers[] = {
      number<&Problem::tokens>("tokens", {.meaning = "rows of qkv", .usual = 20}),
      number<&Problem::heads>("heads", {.meaning = "of queries", .usual = 4, .limit = 65536}),
      number<&Problem::key_heads>("key_heads",
                                  {.meaning = "of keys and of values", .usual = 2, .limit = 65536}),
      number<&Problem::head_size>("head_size",
                                  {.meaning = "columns of a head", .usual = 64, .limit = 8192}),
      number<&Problem::all_positions>("all_positions",
                                      {.meaning = "rows of cosines and sines", .usual = 40}),
      number<&Problem::rows>("rows", {.meaning = "of the cache", .usual = 40})};

  static constexpr Rule rules[] = {
      rule([](const Problem& p) { return p.head_size % 2 == 0; },
           [](const Problem& p) { return sentence("head_size = {} must be even.", p.head_size); }),
      rule([](const Problem& p) { return p.positions != nullptr || p.tokens <= p.all_positions; },
           [](const Problem& p) {
             return sentence(
                 "There are no positions, so that tokens = {} must be at most all_positions = {}.",
                 p.tokens, p.all_positions);
           }),
      rule([](const Problem& p) { return p.slots != nullptr || p.tokens <= p.rows; },
           [](const Problem& p) {
             return sentence("There are no slots, so that tokens = {} must be at most rows = {}.",
                             p.tokens, p.rows);
           }),
      rule(
          [](const Problem& p) {
            const tw_type type = p.qkv.type;
            return p.q.type == type && p.k.type == type && p.v.type == type;
          },
          [](const Problem&) {
            return sentence("The types of qkv, queries, keys and values must be the same.");
          })};

  enum TensorIndex : unsigned { qkv, cosines, sines, positions, slots, q, k, v };
  static constexpr Types types = {ElementType::Bf16, ElementType::Fp16};
  static constexpr TensorExtents of_table(const Problem& p) {
    return {1, p.all_positions, p.head_size / 2};
  }
  static constexpr TensorExtents of_cache(const Problem& p) {
    return {1, p.rows, p.key_heads * p.head_size};
  }
  static constexpr TensorField tensors[] = {
      reads<&Problem::qkv>(
          "qkv", {.title = "qkv", .types = types},
          [](const Problem& p) {
            return TensorExtents{1, p.tokens, (p.heads + 2 * p.key_heads) * p.head_size};
          }),
      reads<&Problem::cosines>(
          "cosines",
          {.title = "the cosines", .types = ElementType::Fp32, .one = "the matrix of cosines"},
          [](const Problem& p) { return of_table(p); }),
      reads<&Problem::sines>(
          "sines", {.title = "the sines", .types = ElementType::Fp32, .one = "the matrix of sines"},
          [](const Problem& p) { return of_table(p); }),
      optional(where([](const Problem& p) { return p.positions != nullptr; },
                     integers<&Problem::positions>("positions", "the positions",
                                                   [](const Problem& p) { return p.tokens; }))),
      optional(where([](const Problem& p) { return p.slots != nullptr; },
                     integers<&Problem::slots>("slots", "the slots",
                                               [](const Problem& p) { return p.tokens; }))),
      writes<&Problem::q>("q",
                          {.title = "the queries", .types = types, .one = "the matrix of queries"},
                          [](const Problem& p) {
                            return TensorExtents{1, p.tokens, p.heads * p.head_size};
                          }),
      writes<&Problem::k>("k", {.title = "the keys", .types = types, .one = "the matrix of keys"},
                          [](const Problem& p) { return of_cache(p); }),
      writes<&Problem::v>("v",
                          {.title = "the values", .types = types, .one = "the matrix of values"},
                          [](const Problem& p) { return of_cache(p); })};

  static constexpr Description description = {
      "rotary",       "rotated queries and keys, and the cache's new rows",
      "rotates this", sizeof(Problem),
      numbers,        {},
      rules,          tensors};
};

}  // namespace tw
