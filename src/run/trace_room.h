// Somewhere to write, for instances that are compiled with tracing.
#pragma once

#include <vector>

#include "src/run/case.h"

namespace tw {

class TraceRoom {
 public:
  static constexpr std::size_t most_ctas = 256;
  static constexpr std::uint32_t capacity = 16;

  // Empty where the case's instance has no timeline.
  explicit TraceRoom(const Case& of) {
    if (of.trial->description->product == nullptr) return;
    const ProductFacts& facts = product_facts(*of.instance);
    if (facts.config.tracing == Tracing::Off) return;
    events_.resize(most_ctas * facts.tracks * capacity);
    counts_.resize(most_ctas * facts.tracks);
  }
  TraceBuffer buffer() {
    return events_.empty() ? TraceBuffer{} : TraceBuffer{events_.data(), counts_.data(), capacity};
  }

 private:
  std::vector<TraceEvent> events_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace tw
