// Collects findings: each once, with what it takes to replay the run.
#pragma once

#include <set>
#include <string>
#include <tuple>

#include "vgpu/machine/machine.h"

namespace tw::vgpu {

class Findings {
 public:
  explicit Findings(const Options& options) : options_(options) {}

  // `subject` tells findings of one checker, role and stage apart: a buffer, a barrier. The text is
  // made only when the finding is new.
  template <class MakeText>
  void add(Checker checker, const char* role, int stage, const void* subject, MakeText&& text) {
    if (options_.disabled.contains(checker)) {
      ++dropped_;
      return;
    }
    if (full() || !seen_.insert({checker, role, stage, subject}).second) return;
    append(checker, role, stage, text());
  }
  void add_incomplete(std::string text);

  bool full() const { return report_.findings.size() >= options_.max_findings; }
  bool dropped() const { return dropped_ != 0; }  // a disabled checker had something to say
  Report& report() { return report_; }

 private:
  void append(Checker checker, const char* role, int stage, std::string text);

  const Options& options_;
  Report report_;
  std::uint64_t dropped_ = 0;
  std::set<std::tuple<Checker, const char*, int, const void*>> seen_;
};

}  // namespace tw::vgpu
