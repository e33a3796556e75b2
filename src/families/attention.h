// Problems of attention with known answers, and which compiled kernel attends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "src/dispatch/choose_launch.h"
#include "src/verify/case.h"
#include "tilewright/family/attention/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> attention_instances();

extern const Trial attention_trial;

// The same problems, judged by the types of their operands alone: the bounds that every kernel
// which may be chosen keeps, whatever it rounds.
extern const Trial attention_of_any_kernel;

// The one that multiplies least beside what is asked for; where there is none, a sentence with what
// the nearest lacks. `rejections` may be null.
Status choose_attention(LaunchChoice& choice, const Checked& problem,
                        const DispatchRequest& request, std::vector<LaunchRejection>* rejections);

// What attention is by its definition, and by how much kernels may miss it.

// Rows of a sequence, as the definition has them.
struct AttentionSequence {
  std::int64_t query_begin, queries, key_begin, keys;
  std::vector<std::int64_t> pages = {};  // where its keys lie, if in pages
  // The first key that each query sees and the one behind the last, where these are given.
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {};

  // The matrix of keys and the row where key j of a head lies.
  std::pair<std::int64_t, std::int64_t> place(const tw_attention_problem& problem,
                                              std::int64_t head, std::int64_t j) const {
    if (pages.empty()) return {head, key_begin + j};
    const std::int64_t page = pages[static_cast<std::size_t>(j / problem.page_size)];
    const std::int64_t slot = j % problem.page_size;
    if (problem.heads_in_pages != 0) return {page * problem.key_heads + head, slot};
    return {head, page * problem.page_size + slot};
  }

  // The key behind the last that the query sees, and the first that it sees.
  std::int64_t end(std::int64_t query, const tw_attention_problem& problem) const {
    if (!ranges.empty()) return ranges[static_cast<std::size_t>(query)].second;
    return problem.causal != 0 ? std::max<std::int64_t>(keys - (queries - 1 - query), 0) : keys;
  }
  std::int64_t first(std::int64_t query, const tw_attention_problem& problem) const {
    if (!ranges.empty()) return ranges[static_cast<std::size_t>(query)].first;
    const std::int64_t seen = end(query, problem);
    return problem.window > 0 ? std::max<std::int64_t>(seen - problem.window, 0) : 0;
  }
};

std::vector<AttentionSequence> sequences_of(const Case& of);

// What kernels round, beside float32.
struct AttentionRounding {
  ElementType products;  // to whose elements weights are rounded
  // The most keys whose products the tensor core adds up, where it multiplies e4m3.
  std::int64_t summed_keys;
};

std::shared_ptr<const Answer> attention_answer(const Case& of, const HostProblem& given,
                                               const AttentionRounding& rounding);

}  // namespace tw
