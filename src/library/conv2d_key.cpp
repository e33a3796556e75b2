#include "src/library/conv2d_key.h"

#include <fmt/format.h>

namespace tw::library {

namespace {

// Calls visit(what, word) for each word.
template <class Visit>
constexpr void each_word(const Conv2dProblem& problem, const tw_conv2d_options& options,
                         int instance, const Place& place, const Visit& visit) {
  visit("The device", place.device);
  visit("The target", letters_word(place.target));
  visit("The number of SMs", place.sms);
  visit("The direction", static_cast<std::int64_t>(problem.direction));
  visit("n", problem.n);
  visit("c", problem.c);
  visit("k", problem.k);
  visit("groups", problem.groups);
  for (unsigned i = 0; i < 3; ++i) {
    const Conv2dAxis& axis = problem.axis(i);
    visit("An extent", axis.extent);
    visit("The extent of a filter", axis.filter);
    visit("A stride", axis.stride);
    visit("A dilation", axis.dilation);
    visit("A lower padding", axis.pad_low);
    visit("An upper padding", axis.pad_high);
  }
  visit("The alignment of the image", alignment_word(problem.image));
  visit("The alignment of the filter", alignment_word(problem.filter));
  visit("The alignment of D", alignment_word(problem.d));
  visit("The type", static_cast<std::int64_t>(problem.type));
  visit("The type of D", static_cast<std::int64_t>(problem.d_type));
  const EpilogueArguments& epilogue = problem.epilogue;
  visit("The value of alpha (0: it is 0)", epilogue.alpha != 0.0f);
  visit("The value of output_scale (0: it is 1)", epilogue.output_scale != 1.0f);
  visit("The activation", static_cast<std::int64_t>(epilogue.activation));
  visit("The gate", epilogue.gated);
  visit("The alignment of the source", alignment_word(epilogue.source));
  visit("The row_stride of the source", epilogue.source_pitch);
  visit("The type of the source", static_cast<std::int64_t>(epilogue.source_type));
  visit("The alignment of the auxiliary output", alignment_word(epilogue.auxiliary));
  visit("The row_stride of the auxiliary output", epilogue.auxiliary_pitch);
  visit("The type of the auxiliary output", static_cast<std::int64_t>(epilogue.auxiliary_type));
  visit("The type of the biases", static_cast<std::int64_t>(epilogue.bias_type));
  visit("The alignment of the column bias", alignment_word(epilogue.column_bias));
  visit("The alignment of the row bias", alignment_word(epilogue.row_bias));
  visit("The alignment of the column scale", alignment_word(epilogue.column_scale));
  visit("The alignment of the row scale", alignment_word(epilogue.row_scale));
  visit("The alignment of amax", alignment_word(epilogue.amax));
  visit("batch_invariant", options.batch_invariant != 0);
  visit("fast_accumulation", options.fast_accumulation != 0);
  visit("workspace_limit", static_cast<std::int64_t>(options.workspace_limit));
  visit("The instance", instance);
}

constexpr std::size_t count_words() {
  std::size_t count = 0;
  each_word({}, {}, 0, {}, [&count](const char*, std::int64_t) { ++count; });
  return count;
}
static_assert(count_words() == std::tuple_size_v<decltype(Conv2dKey::words)>);

}  // namespace

Conv2dKey::Conv2dKey(const Conv2dProblem& problem, const tw_conv2d_options& options, int instance,
                     const Place& place) {
  auto next = words.begin();
  each_word(problem, options, instance, place,
            [&next](const char*, std::int64_t word) { *next++ = word; });
}

std::string Conv2dKey::difference(const Conv2dKey& planned) const {
  std::string sentence;
  std::size_t index = 0;
  each_word({}, {}, 0, {}, [&](const char* what, std::int64_t) {
    const std::int64_t mine = words[index], theirs = planned.words[index];
    index += 1;
    if (mine == theirs || !sentence.empty()) return;
    sentence = fmt::format("{} is {}, but the plan was made for {}.", what, mine, theirs);
  });
  return sentence;
}

}  // namespace tw::library
