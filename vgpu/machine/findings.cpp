#include "vgpu/machine/findings.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::vgpu {

const char* name_of(Landing landing) {
  switch (landing) {
    case Landing::Eager: return "eager";
    case Landing::Lazy: return "lazy";
    case Landing::Random: return "random";
    case Landing::Adversarial: return "adversarial";
  }
  return "unknown";
}

void Findings::append(Checker checker, const char* role, int stage, std::string text) {
  if (options_.steps == nullptr) {  // who chooses steps has a schedule to show
    text += fmt::format(" Replay: seed {}, landing {}.", options_.seed, name_of(options_.landing));
  }
  report_.findings.push_back(
      {checker, name_of(checker), role == nullptr ? "" : role, stage, std::move(text)});
  frames_.emplace_back();
}

Report& Findings::finished() {
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    std::string& text = report_.findings[i].text;
    const std::string lines = source_lines(frames_[i].own);
    if (!lines.empty()) text += fmt::format(" Source: {}.", lines);
    const std::string others = source_lines(frames_[i].other);
    if (!others.empty()) text += fmt::format(" The other access: {}.", others);
  }
  frames_.clear();
  return report_;
}

void Findings::add_incomplete(std::string text) {
  auto& known = report_.incomplete;
  if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(std::move(text));
}

}  // namespace tw::vgpu
