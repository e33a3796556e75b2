#include "src/library/decision_key.h"

#include <fmt/format.h>

namespace tw::library {

namespace {

// Calls visit(what, of, word) for each word; `of` may be null.
template <class Visit>
constexpr void each_word(const tw_matmul_problem& problem, const tw_matmul_options& options,
                         std::int64_t instance, const Place& place, const Visit& visit) {
  visit("The device", nullptr, place.device);
  visit("The target", nullptr, letters_word(place.target));
  visit("The number of SMs", nullptr, place.sms);
  visit("m", nullptr, problem.m);
  visit("n", nullptr, problem.n);
  visit("k", nullptr, problem.k);
  visit("batch", nullptr, problem.batch);
  const tw_epilogue& epilogue = problem.epilogue;
  const auto matrix = [&visit](const char* name, const tw_matrix& given, bool present) {
    visit("The row_stride", name, present ? given.row_stride : 0);
    visit("The column_stride", name, present ? given.column_stride : 0);
    visit("The batch_stride", name, present ? given.batch_stride : 0);
    visit("The type", name, present ? static_cast<int>(given.type) : 0);
    visit("The alignment", name, present ? alignment_word(given.data) : 0);
  };
  matrix("A", problem.a, true);
  matrix("B", problem.b, true);
  matrix("D", problem.d, true);
  matrix("the source", epilogue.source, epilogue.beta != 0.0f);
  matrix("the auxiliary output", epilogue.auxiliary, epilogue.auxiliary.data != nullptr);
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
  visit("batch_invariant", nullptr, options.batch_invariant != 0);
  visit("fast_accumulation", nullptr, options.fast_accumulation != 0);
  visit("workspace_limit", nullptr, static_cast<std::int64_t>(options.workspace_limit));
  visit("The instance", nullptr, instance);
}

constexpr std::size_t count_words() {
  std::size_t count = 0;
  each_word({}, {}, 0, {}, [&count](const char*, const char*, std::int64_t) { ++count; });
  return count;
}
static_assert(count_words() == std::tuple_size_v<decltype(DecisionKey::words)>);

}  // namespace

DecisionKey::DecisionKey(const tw_matmul_problem& problem, const tw_matmul_options& options,
                         const MatmulInstance* named, const Place& place) {
  const std::int64_t instance = named == nullptr ? 0 : named - matmul_instances().data() + 1;
  auto next = words.begin();
  each_word(problem, options, instance, place,
            [&next](const char*, const char*, std::int64_t word) { *next++ = word; });
}

std::string DecisionKey::difference(const DecisionKey& planned) const {
  std::string sentence;
  std::size_t index = 0;
  each_word({}, {}, 0, {}, [&](const char* what, const char* of, std::int64_t) {
    const std::int64_t mine = words[index], theirs = planned.words[index];
    index += 1;
    if (mine == theirs || !sentence.empty()) return;
    sentence = fmt::format("{}{}{} is {}, but the plan was made for {}.", what,
                           of == nullptr ? "" : " of ", of == nullptr ? "" : of, mine, theirs);
  });
  return sentence;
}

}  // namespace tw::library
