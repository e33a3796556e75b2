#include "src/library/decide.h"

#include <optional>
#include <vector>

#include "src/library/failure.h"
#include "src/library/log.h"

namespace tw::library {

namespace {

bool goes_before(const Choice& a, const Choice& b) {
  return a.measured != b.measured ? a.measured : a.microseconds < b.microseconds;
}

}  // namespace

FormChoice cheapest_form(const ConvertedProblem& converted, const DispatchRequest& request) {
  std::optional<FormChoice> best;
  std::string sentence;
  for (const bool other_a : {false, true}) {
    for (const bool other_b : {false, true}) {
      if ((other_a && !converted.other_a) || (other_b && !converted.other_b)) continue;
      ConvertedProblem form = converted;
      FormChoice choice;
      choice.takes_other_a = other_a;
      choice.takes_other_b = other_b;
      std::vector<Rejection> rejections;
      const Status status =
          choose(choice, choice.problem(form), request, logs_dispatch() ? &rejections : nullptr);
      log_dispatch(title_of(form.problem), rejections, status, choice);
      if (!status.is_good()) {
        if (sentence.empty()) sentence = status.sentence();
      } else if (!best || goes_before(choice, *best)) {
        best = choice;
      }
    }
  }
  if (!best) throw Failure{TW_UNSUPPORTED, sentence};
  return *best;
}

}  // namespace tw::library
