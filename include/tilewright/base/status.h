// The outcome of a host-side request: good, or a sentence that names the value and the rule.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "tilewright/base/require.h"

namespace tw {

class [[nodiscard]] Status {
 public:
  static Status good() { return Status(); }
  static Status refused(std::string sentence) { return Status(std::move(sentence)); }

  bool is_good() const { return sentence_.empty(); }
  const std::string& sentence() const { return sentence_; }

 private:
  Status() = default;
  explicit Status(std::string sentence) : sentence_(std::move(sentence)) {}
  std::string sentence_;
};

// A value, or the Status that says why there is none.
template <class T>
struct [[nodiscard]] Result {
  Status status = Status::good();
  std::optional<T> value;
};

// Runs host code that may refuse: attempt([&] { return composition(a, b); }).
template <class Function>
auto attempt(Function&& function) -> Result<decltype(function())> {
  try {
    return {Status::good(), function()};
  } catch (const Refusal& refusal) {
    return {Status::refused(refusal.what()), std::nullopt};
  }
}

}  // namespace tw
