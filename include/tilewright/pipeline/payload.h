// What flows through a ring: the parts of one stage, and what their arrival is made of.
#pragma once

#include <algorithm>

namespace tw {

// How the arrival of a part is announced on the stage's full barrier.
enum class Completion : unsigned {
  TransactionBytes,  // the copy engine counts bytes; the loading thread announces how many
};

// One part of a stage. Barrier counts are sums over parts; nobody writes them by hand.
struct Part {
  unsigned bytes;  // that land in one CTA per stage
  Completion completion;
  unsigned loading_threads;  // that announce the part
  unsigned reading_groups;   // groups of threads per CTA; each releases once
};

// A payload declares `Tiles`, the plain struct of one stage's shared memory, and `parts`.
template <class Payload>
class PayloadCounts {
  static constexpr Part summary() {
    Part total = {};
    for (const Part& part : Payload::parts) {
      total.bytes += part.bytes;
      // Parts announced by one thread share its single arrival; a group that reads several parts
      // releases the stage once.
      total.loading_threads = std::max(total.loading_threads, part.loading_threads);
      total.reading_groups = std::max(total.reading_groups, part.reading_groups);
    }
    return total;
  }

 public:
  static constexpr unsigned bytes = summary().bytes;
  static constexpr unsigned full_arrivals = summary().loading_threads;
  static constexpr unsigned reading_groups = summary().reading_groups;
};

}  // namespace tw
