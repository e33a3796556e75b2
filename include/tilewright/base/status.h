// The outcome of a host-side request: good, or a sentence that names the value and the rule. Where
// several things stand in the way, it is that of the first, and the others are counted.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "tilewright/base/refusal.h"
#include "tilewright/base/require.h"

namespace tw {

class [[nodiscard]] Status {
 public:
  static Status good() { return Status(); }
  static Status refused(std::string sentence) { return Status(std::move(sentence)); }

  bool is_good() const { return sentence_.empty(); }
  const std::string& sentence() const { return sentence_; }
  unsigned obstacles() const { return obstacles_; }  // 0: it is good
  // One obstacle more, unless something holds; `says` makes its sentence if it is the first.
  template <class Says>
  void unless(bool holds, const Says& says) {
    if (holds) return;
    if (is_good()) sentence_ = says();
    ++obstacles_;
  }
  // The same with what another has found.
  void add(const Status& next) {
    if (is_good()) sentence_ = next.sentence_;
    obstacles_ += next.obstacles_;
  }

 private:
  Status() = default;
  explicit Status(std::string sentence) : sentence_(std::move(sentence)), obstacles_(1) {}
  std::string sentence_;
  unsigned obstacles_ = 0;
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
