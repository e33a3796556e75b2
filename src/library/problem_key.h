// Everything that the choice of a kernel depends on, as numbers that are compared and hashed: of
// addresses only their alignment.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "src/library/device.h"
#include "tilewright.h"

namespace tw::library {

// 0: null.
constexpr std::int64_t alignment_word(const void* address) {
  if (address == nullptr) return 0;
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(address) | 16;
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

constexpr std::int64_t letters_word(const char* word) {
  std::int64_t packed = 0;
  for (; word != nullptr && *word != 0; ++word) packed = packed << 8 | *word;
  return packed;
}

// These call visit(what, of, word) for each word; `of` may be null.

template <class Visit>
constexpr void matrix_words(const char* name, const tw_matrix& given, bool present,
                            const Visit& visit) {
  visit("The row_stride", name, present ? given.row_stride : 0);
  visit("The column_stride", name, present ? given.column_stride : 0);
  visit("The batch_stride", name, present ? given.batch_stride : 0);
  visit("The type", name, present ? static_cast<int>(given.type) : 0);
  visit("The alignment", name, present ? alignment_word(given.data) : 0);
}

template <class Visit>
constexpr void epilogue_words(const tw_epilogue& epilogue, const Visit& visit) {
  matrix_words("the source", epilogue.source, epilogue.beta != 0.0f, visit);
  matrix_words("the auxiliary output", epilogue.auxiliary, epilogue.auxiliary.data != nullptr,
               visit);
  visit("The value (0: alpha is 0)", "alpha", epilogue.alpha != 0.0f);
  visit("The value (0: beta is 0)", "beta", epilogue.beta != 0.0f);
  visit("The value (0: output_scale is 1)", "output_scale", epilogue.output_scale != 1.0f);
  visit("The activation", nullptr, epilogue.activation);
  visit("The gate", nullptr, epilogue.gated != 0);
  const bool biased = epilogue.column_bias != nullptr || epilogue.row_bias != nullptr;
  visit("The type", "the biases", biased ? static_cast<int>(epilogue.bias_type) : 0);
  visit("The alignment", "the column bias", alignment_word(epilogue.column_bias));
  visit("The alignment", "the row bias", alignment_word(epilogue.row_bias));
  visit("The alignment", "the column scale", alignment_word(epilogue.column_scale));
  visit("The alignment", "the row scale", alignment_word(epilogue.row_scale));
  visit("The alignment", "amax", alignment_word(epilogue.amax));
}

template <class Visit>
constexpr void matmul_words(const tw_matmul_problem& problem, const Visit& visit) {
  visit("m", nullptr, problem.m);
  visit("n", nullptr, problem.n);
  visit("k", nullptr, problem.k);
  visit("batch", nullptr, problem.batch);
  matrix_words("A", problem.a, true, visit);
  matrix_words("B", problem.b, true, visit);
  matrix_words("D", problem.d, true, visit);
  epilogue_words(problem.epilogue, visit);
}

// Of a Family: its `words(given, visit)` are those of its problem in the C interface, `Given`.
template <class Family, class Visit>
constexpr void key_words(const typename Family::Given& given, const tw_matmul_options& options,
                         std::int64_t instance, const Place& place, const Visit& visit) {
  visit("The device", nullptr, place.device);
  visit("The target", nullptr, letters_word(place.target));
  visit("The number of SMs", nullptr, place.sms);
  Family::words(given, visit);
  visit("batch_invariant", nullptr, options.batch_invariant != 0);
  visit("fast_accumulation", nullptr, options.fast_accumulation != 0);
  visit("workspace_limit", nullptr, static_cast<std::int64_t>(options.workspace_limit));
  visit("The instance", nullptr, instance);
}
// The words of the place and of the options alone.
struct NoProblem {
  struct Given {};
  template <class Visit>
  static constexpr void words(const Given&, const Visit&) {}
};
template <class Family>
constexpr std::size_t count_key_words() {
  if constexpr (requires { Family::word_count; }) {
    return count_key_words<NoProblem>() + Family::word_count;
  }
  std::size_t count = 0;
  key_words<Family>({}, {}, 0, {}, [&count](const char*, const char*, std::int64_t) { ++count; });
  return count;
}

template <class Family>
class ProblemKey {
  using Given = typename Family::Given;

 public:
  // `instance`: the number of the one that the options name, from 1; or 0.
  ProblemKey(const Given& given, const tw_matmul_options& options, std::int64_t instance,
             const Place& place) {
    auto next = words_.begin();
    key_words<Family>(given, options, instance, place,
                      [&next](const char*, const char*, std::int64_t word) { *next++ = word; });
  }
  // All zero: equal to no key of a problem.
  ProblemKey() = default;

  bool operator==(const ProblemKey&) const = default;
  std::uint64_t hash() const {
    std::uint64_t hash = 0x9E3779B97F4A7C15ull;
    for (const std::int64_t word : words_) {
      hash = (hash ^ static_cast<std::uint64_t>(word)) * 0xBF58476D1CE4E5B9ull;
      hash ^= hash >> 29;
    }
    return hash;
  }

  // A sentence about the first word in which this differs from a plan's key; there is one.
  std::string difference(const ProblemKey& planned) const {
    std::string sentence;
    std::size_t index = 0;
    key_words<Family>({}, {}, 0, {}, [&](const char* what, const char* of, std::int64_t) {
      const std::int64_t mine = words_[index], theirs = planned.words_[index];
      index += 1;
      if (mine == theirs || !sentence.empty()) return;
      sentence = fmt::format("{}{}{} is {}, but the plan was made for {}.", what,
                             of == nullptr ? "" : " of ", of == nullptr ? "" : of, mine, theirs);
    });
    return sentence;
  }

 private:
  std::array<std::int64_t, count_key_words<Family>()> words_ = {};
};

}  // namespace tw::library
