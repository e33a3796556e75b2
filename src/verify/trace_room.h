// Somewhere to write, for instances that are compiled with tracing.
#pragma once

#include <vector>

#include "src/verify/case.h"

namespace tw {

// Tracks of a CTA's timeline; 0: the instance is compiled without tracing.
inline unsigned tracks_of(const Case& of) {
  if (of.trial->tracks != nullptr) return of.trial->tracks(*of.instance);
  if (of.trial->description->product == nullptr) return 0;
  const ProductFacts& facts = product_facts(*of.instance);
  return facts.config.tracing == Tracing::On ? facts.tracks : 0;
}

class TraceRoom {
 public:
  // A kernel with one track is a stream, of which an SM holds up to 32 CTAs.
  static constexpr std::size_t most_ctas(unsigned tracks) { return tracks == 1 ? 5120 : 256; }
  static constexpr std::uint32_t capacity = 16;

  // Empty where the case's instance has no timeline.
  explicit TraceRoom(const Case& of) : counts_(most_ctas(tracks_of(of)) * tracks_of(of)) {
    events_.resize(counts_.size() * capacity);
  }
  TraceBuffer buffer() {
    if (events_.empty()) return {};
    return {events_.data(), counts_.data(), capacity, static_cast<std::uint32_t>(counts_.size())};
  }

 private:
  std::vector<TraceEvent> events_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace tw
