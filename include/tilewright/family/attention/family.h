// Attention: the description of its problem.
#pragma once

#include <algorithm>
#include <cmath>

#include "tilewright/family/attention/problem.h"
#include "tilewright/launch/more_fields.h"

namespace tw {

struct AttentionFamily {
  using Problem = tw_attention_problem;

  static constexpr bool is_ragged(const Problem& p) { return p.query_ends != nullptr; }
  static constexpr std::int64_t query_rows(const Problem& p) {
    return is_ragged(p) ? p.queries : saturated_product(p.queries, p.sequences);
  }
  static constexpr bool is_paged(const Problem& p) { return p.page_size > 0; }
  static constexpr bool has_ranges(const Problem& p) { return p.range_begins != nullptr; }
  // The rows of one matrix of keys or values, and the number of these matrices.
  static constexpr std::int64_t key_rows(const Problem& p) {
    if (is_paged(p)) return saturated_product(p.page_size, p.heads_in_pages != 0 ? 1 : p.pages);
    return is_ragged(p) ? p.keys : saturated_product(p.keys, p.sequences);
  }
  static constexpr std::int64_t key_matrices(const Problem& p) {
    return saturated_product(p.key_heads, is_paged(p) && p.heads_in_pages != 0 ? p.pages : 1);
  }
  static constexpr std::int64_t value_size(const Problem& p) {
    return p.value_size > 0 ? p.value_size : p.head_size;
  }
  static float scale(const Problem& p) {
    return p.scale > 0 ? p.scale : 1 / std::sqrt(static_cast<float>(p.head_size));
  }
  // Keys whose sums may add up in the tensor core, where it multiplies e4m3.
  static constexpr std::int64_t summed_keys(const Problem& p) {
    return p.sums_join_every > 0 ? p.sums_join_every : 128;
  }
  // Kernels count the rows of a tile beyond the last.
  static constexpr std::int64_t most_rows = (std::int64_t{1} << 31) - (1 << 16);
  static constexpr bool is_countable(std::int64_t one, std::int64_t other) {
    return one == 0 || other <= most_rows / one;
  }
  // It is also asked before the numbers are known to be in their ranges.
  static constexpr std::int64_t table_entries(const Problem& p) {
    const bool is_sized = p.sequences > 0 && is_countable(p.sequences, p.table_pitch);
    return is_sized && p.table_pitch > 0 ? p.sequences * p.table_pitch : 0;
  }

  static constexpr IntegerField numbers[] = {
      number<&Problem::heads>("heads",
                              {.meaning = "of queries", .usual = 2, .initial = 1, .low = 1}),
      number<&Problem::key_heads>(
          "key_heads", {.meaning = "of keys and values", .usual = 1, .initial = 1, .low = 1}),
      number<&Problem::head_size>("head_size", {.meaning = "columns of queries and keys",
                                                .usual = 128,
                                                .initial = 128,
                                                .low = 1,
                                                .limit = 65536}),
      number<&Problem::value_size>(
          "value_size", {.meaning = "columns of values; 0: as those of keys", .limit = 65536}),
      number<&Problem::sequences>("sequences",
                                  {.meaning = "in the batch", .usual = 2, .initial = 1}),
      number<&Problem::queries>("queries", {.meaning = "tokens of every sequence", .usual = 40}),
      number<&Problem::keys>("keys", {.meaning = "tokens of every sequence", .usual = 70}),
      flag<&Problem::causal>("causal", "a query sees no key behind its own place"),
      number<&Problem::window>("window",
                               {.meaning = "of these keys, a query sees the last so many; 0: all"}),
      number<&Problem::page_size>(
          "page_size", {.meaning = "tokens of a page of keys; 0: no pages", .limit = 65536}),
      number<&Problem::pages>("pages", {.meaning = "in the cache, where keys are in pages"}),
      number<&Problem::table_pitch>("table_pitch",
                                    {.meaning = "pages that the table has for a sequence"}),
      flag<&Problem::heads_in_pages>("heads_in_pages", "heads of a page lie one behind the other"),
      flag<&Problem::values_in_keys>("values_in_keys",
                                     "values are the first columns of keys: v is not given"),
      number<&Problem::sums_join_every>(
          "sums_join_every",
          {.meaning = "e4m3: keys whose sums the tensor core may have before float32; 0: 128"})};

  static constexpr RealField reals[] = {
      real<&Problem::scale>("scale", "of the products of queries and keys; 0: by the head size", 0),
      real<&Problem::softcap>("softcap", "the bound that scores stay below; 0: none", 0)};

  static constexpr Rule rules[] = {
      rule([](const Problem& p) { return p.heads % p.key_heads == 0; },
           [](const Problem& p) {
             return sentence("heads = {} must be a multiple of key_heads = {}.", p.heads,
                             p.key_heads);
           }),
      rule(
          [](const Problem& p) {
            return is_paged(p) || (p.query_ends == nullptr) == (p.key_ends == nullptr);
          },
          [](const Problem&) {
            return sentence("Ends are given of queries and of keys, or of neither.");
          }),
      rule(
          [](const Problem& p) {
            return !is_paged(p) || (p.key_ends != nullptr && p.page_table != nullptr);
          },
          [](const Problem&) { return sentence("Keys in pages need a page_table and key_ends."); }),
      rule(
          [](const Problem& p) {
            return !is_paged(p) || p.table_pitch >= (p.keys + p.page_size - 1) / p.page_size;
          },
          [](const Problem& p) {
            return sentence(
                "table_pitch = {} pages of {} tokens, but a sequence has up to {} keys.",
                p.table_pitch, p.page_size, p.keys);
          }),
      rule([](const Problem& p) { return p.scale >= 0 && p.scale <= 3.4e38f; },
           [](const Problem& p) {
             return sentence("scale = {} must be a positive number, or 0.", p.scale);
           }),
      rule([](const Problem& p) { return p.softcap >= 0 && p.softcap <= 3.4e38f; },
           [](const Problem& p) {
             return sentence("softcap = {} must be a positive number, or 0.", p.softcap);
           }),
      rule([](const Problem& p) { return p.values_in_keys == 0 || value_size(p) <= p.head_size; },
           [](const Problem& p) {
             return sentence(
                 "values_in_keys: value_size = {}, but keys have head_size = {} columns.",
                 p.value_size, p.head_size);
           }),
      rule(
          [](const Problem& p) {
            return p.values_in_keys == 0 || (p.v.data == nullptr && p.v_scales == nullptr);
          },
          [](const Problem&) {
            return sentence(
                "values_in_keys: values are columns of the keys, but v or its scales are given.");
          }),
      rule([](const Problem& p) { return p.window == 0 || p.causal != 0; },
           [](const Problem& p) {
             return sentence("window = {} is of causal attention, but causal is 0.", p.window);
           }),
      rule([](const Problem& p) { return has_ranges(p) == (p.range_ends != nullptr); },
           [](const Problem&) {
             return sentence("range_begins and range_ends are given both, or neither.");
           }),
      rule([](const Problem& p) { return !has_ranges(p) || (p.causal == 0 && !is_paged(p)); },
           [](const Problem&) {
             return sentence(
                 "Ranges of keys are masks of their own: causal is 0 beside them, and keys are not "
                 "in pages.");
           }),
      rule(
          [](const Problem& p) {
            const tw_type output = p.q.type == TW_E4M3 ? TW_BF16 : p.q.type;
            const bool are_e4m3_keys = p.q.type == TW_BF16 && p.k.type == TW_E4M3;
            return (p.k.type == p.q.type || are_e4m3_keys) &&
                   (p.values_in_keys != 0 || p.v.type == p.k.type) && p.output.type == output;
          },
          [](const Problem&) {
            return sentence(
                "Keys and values must have the type of the queries, or be e4m3 beside bf16 "
                "queries; the output has the type of the queries, or bf16 where they are e4m3.");
          }),
      rule(
          [](const Problem& p) {
            const bool is_scaled = p.k_scales != nullptr || p.v_scales != nullptr;
            return (p.q_scales == nullptr || p.q.type == TW_E4M3) &&
                   (!is_scaled || p.k.type == TW_E4M3);
          },
          [](const Problem& p) {
            const bool of_queries = p.q_scales != nullptr && p.q.type != TW_E4M3;
            return sentence(of_queries
                                ? "q_scales are given, but the queries are not e4m3."
                                : "k_scales or v_scales are given, but the keys are not e4m3.");
          }),
      rule(
          [](const Problem& p) {
            const std::int64_t many = is_ragged(p) ? 1 : p.sequences;
            return is_countable(many, p.queries) && is_countable(many, p.keys) &&
                   is_countable(p.sequences, p.heads) && is_countable(p.page_size, p.pages) &&
                   is_countable(p.key_heads, p.pages) && is_countable(p.sequences, p.table_pitch);
          },
          [](const Problem& p) {
            return sentence(
                "sequences = {}, of queries = {} and keys = {} tokens and heads = {}: rows and "
                "heads of all of them are counted up to 2^31 - 65536.",
                p.sequences, p.queries, p.keys, p.heads);
          })};

  enum TensorIndex : unsigned {
    q,
    k,
    v,
    query_ends,
    key_ends,
    page_table,
    sinks,
    output,
    log_sums,
    q_scales,
    k_scales,
    v_scales,
    range_begins,
    range_ends
  };
  static constexpr Types elements = {ElementType::Bf16, ElementType::Fp16};
  static constexpr Types inputs = {ElementType::Bf16, ElementType::Fp16, ElementType::E4m3};
  static constexpr TensorExtents of_queries(const Problem& p) {
    return {p.heads, query_rows(p), p.head_size};
  }
  static constexpr TensorExtents of_output(const Problem& p) {
    return {p.heads, query_rows(p), value_size(p)};
  }
  static constexpr TensorExtents of_values(const Problem& p) {
    return {key_matrices(p), key_rows(p), value_size(p)};
  }
  static constexpr TensorExtents of_keys(const Problem& p) {
    return {key_matrices(p), key_rows(p), p.head_size};
  }
  static constexpr TensorField tensors[] = {
      reads<&Problem::q>("q",
                         {.title = "the queries", .types = inputs, .one = "the tensor of queries"},
                         [](const Problem& p) { return of_queries(p); }),
      reads<&Problem::k>("k", {.title = "the keys", .types = inputs, .one = "the tensor of keys"},
                         [](const Problem& p) { return of_keys(p); }),
      where([](const Problem& p) { return p.values_in_keys == 0; },
            reads<&Problem::v>(
                "v", {.title = "the values", .types = inputs, .one = "the tensor of values"},
                [](const Problem& p) { return of_values(p); })),
      where([](const Problem& p) { return is_ragged(p); },
            integers<&Problem::query_ends>("query_ends", "the ends of queries",
                                           [](const Problem& p) { return p.sequences; })),
      where([](const Problem& p) { return is_ragged(p) || is_paged(p); },
            integers<&Problem::key_ends>("key_ends", "the ends of keys",
                                         [](const Problem& p) { return p.sequences; })),
      where([](const Problem& p) { return is_paged(p); },
            integers<&Problem::page_table>("page_table", "the page table",
                                           [](const Problem& p) { return table_entries(p); })),
      optional(where([](const Problem& p) { return p.sinks != nullptr; },
                     vector_of<&Problem::sinks>("sinks", "the sinks", ElementType::Fp32,
                                                [](const Problem& p) { return p.heads; }))),
      writes<&Problem::output>("output", {.title = "the output", .types = elements},
                               [](const Problem& p) { return of_output(p); }),
      optional(where([](const Problem& p) { return p.log_sums.data != nullptr; },
                     writes<&Problem::log_sums>("log_sums",
                                                {.title = "the log sums",
                                                 .types = ElementType::Fp32,
                                                 .one = "the matrix of log sums"},
                                                [](const Problem& p) {
                                                  return TensorExtents{1, p.heads, query_rows(p)};
                                                }))),
      optional(where(
          [](const Problem& p) { return p.q_scales != nullptr; },
          vector_of<&Problem::q_scales>("q_scales", "the scales of queries", ElementType::Fp32,
                                        [](const Problem& p) { return p.key_heads; }))),
      optional(
          where([](const Problem& p) { return p.k_scales != nullptr; },
                vector_of<&Problem::k_scales>("k_scales", "the scales of keys", ElementType::Fp32,
                                              [](const Problem& p) { return p.key_heads; }))),
      optional(
          where([](const Problem& p) { return p.v_scales != nullptr; },
                vector_of<&Problem::v_scales>("v_scales", "the scales of values", ElementType::Fp32,
                                              [](const Problem& p) { return p.key_heads; }))),
      optional(
          where([](const Problem& p) { return has_ranges(p); },
                integers<&Problem::range_begins>("range_begins", "the first keys of queries",
                                                 [](const Problem& p) { return query_rows(p); }))),
      optional(
          where([](const Problem& p) { return p.range_ends != nullptr; },
                integers<&Problem::range_ends>("range_ends", "the keys behind those of queries",
                                               [](const Problem& p) { return query_rows(p); })))};

  // Equal shares.
  static ListField::Guess guessed(const Problem& p, std::int64_t rows) {
    if (!is_ragged(p)) return {{}, 0};
    ListField::Guess guess = {{}, p.sequences};
    for (std::int64_t i = 0; i < std::min(p.sequences, ListField::most_guessed); ++i) {
      guess.first.push_back(rows * (i + 1) / p.sequences - rows * i / p.sequences);
    }
    return guess;
  }

  enum ListIndex : unsigned { query_lengths, key_lengths };
  static constexpr ListField lists[] = {
      list("query_lengths", "A length", "sequences",
           "queries of each sequence: they lie on the device; left out: all are equally long", "",
           [](const Problem& p) { return guessed(p, p.queries); }),
      list("key_lengths", "A length", "sequences", "keys of each sequence, where queries are given",
           "", [](const Problem& p) { return guessed(p, p.keys); })};

  static constexpr Description description = {"attention", "softmax(queries keys^T) values",
                                              "attends",   sizeof(Problem),
                                              numbers,     reals,
                                              rules,       tensors,
                                              nullptr,     lists};
};

}  // namespace tw
