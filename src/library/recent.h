// Decisions that need not be made again.
#pragma once

#include <cstddef>
#include <mutex>

#include "src/library/problem_key.h"

namespace tw::library {

struct Decision {
  Choice choice;
  std::size_t workspace_bytes = 0;
  std::size_t kernel_bytes = 0;  // what the kernel itself asks for, counters first
};

// What was decided lately. A set is locked for the time of a copy, so that threads meet only where
// they ask for the same shapes.
class Recent {
 public:
  bool find(Decision& decision, const ProblemKey& key) {
    Set& set = set_of(key);
    const std::lock_guard lock(set.mutex);
    for (const Entry& entry : set.entries) {
      if (entry.key != key) continue;
      decision = entry.decision;
      return true;
    }
    return false;
  }
  void store(const Decision& decision, const ProblemKey& key) {
    Set& set = set_of(key);
    const std::lock_guard lock(set.mutex);
    set.entries[set.oldest] = {key, decision};
    set.oldest = (set.oldest + 1) % ways;
  }

 private:
  static constexpr std::size_t sets = 1024;
  static constexpr std::size_t ways = 4;
  struct Entry {
    ProblemKey key;
    Decision decision;
  };
  struct Set {
    std::mutex mutex;
    std::size_t oldest = 0;
    Entry entries[ways];
  };
  Set& set_of(const ProblemKey& key) { return sets_[key.hash() % sets]; }
  Set sets_[sets];
};

}  // namespace tw::library
