// Collects findings: each once, with what it takes to replay the run.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/machine/machine.h"
#include "vgpu/machine/source_lines.h"

namespace tw::vgpu {

class Findings {
 public:
  explicit Findings(const Options& options) : options_(options) {}

  // `subject` tells findings of one checker, role and stage apart: a buffer, a barrier. The text is
  // made only when the finding is new. `is_here`: it is about what the running thread executes.
  // `other` gives the calls that led to the access that came first, or none.
  template <class MakeText, class OtherFrames>
  void add(Checker checker, const char* role, int stage, const void* subject, bool is_here,
           MakeText&& text, OtherFrames&& other) {
    if (options_.disabled.contains(checker)) {
      ++dropped_;
      return;
    }
    if (full() || !seen_.insert({checker, role, stage, subject}).second) return;
    append(checker, role, stage, text());
    if (is_here) frames_.back().own = current_frames();
    frames_.back().other = other();
  }
  void add_incomplete(std::string text);

  bool full() const { return report_.findings.size() >= options_.max_findings; }
  bool dropped() const { return dropped_ != 0; }  // a disabled checker had something to say
  // Adds the lines of the sources, when the run is over.
  Report& finished();
  Report& report() { return report_; }

 private:
  void append(Checker checker, const char* role, int stage, std::string text);

  const Options& options_;
  Report report_;
  struct FindingFrames {
    Frames own, other;
  };
  std::vector<FindingFrames> frames_;  // one entry for each finding
  std::uint64_t dropped_ = 0;
  std::set<std::tuple<Checker, const char*, int, const void*>> seen_;
};

}  // namespace tw::vgpu
