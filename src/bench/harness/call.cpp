#include "src/bench/harness/call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "src/bench/harness/forms.h"
#include "src/dispatch/measured.h"

namespace tw::bench {

Status read_call(MeasuredCall& call, const std::string& words) {
  call = {};
  std::istringstream stream(words);
  std::string family, type, shape, more;
  stream >> family >> type >> shape;
  if (shape.empty() || stream >> more) {
    return Status::refused(
        fmt::format("The call '{}' is not a family, a type and a shape, as in 'matmul bf16 "
                    "64x4096x1024'.",
                    words));
  }
  const ShapeForm* const form = form_of(family);
  if (form == nullptr || !form->is_tuned) {
    std::vector<std::string> tuned;
    for (const ShapeForm* one : all_forms()) {
      if (one->is_tuned) tuned.push_back(one->description->name);
    }
    return Status::refused(fmt::format("The call '{}' is of no family that is tuned: {} are.",
                                       words, fmt::join(tuned, ", ")));
  }
  ElementType element;
  std::vector<std::int64_t> numbers;
  if (Status status = read_type(element, *form, type); !status.is_good()) return status;
  if (Status status = read_shape(numbers, *form, shape); !status.is_good()) return status;
  const Status status = make_case(call.what, *form, numbers, element, {});
  call.words = fmt::format("{} {} {}", family, type, shape_words(call.what));
  return status;
}

Status read_call_log(CallLog& log, const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::refused(fmt::format("The log '{}' cannot be read.", path));
  const std::string prefix = call_prefix;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("./tw run ")) ++log.others;
    if (!line.starts_with(prefix)) continue;
    const std::string call = line.substr(prefix.size());
    if (std::find(log.calls.begin(), log.calls.end(), call) == log.calls.end()) {
      log.calls.push_back(call);
    }
  }
  if (!log.calls.empty()) return Status::good();
  return Status::refused(fmt::format(
      "The log '{}' has no call that can be tuned: TW_LOG=calls prints lines that begin "
      "with '{}'.",
      path, prefix));
}

}  // namespace tw::bench
