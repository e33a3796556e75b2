// Decisions that need not be made again.
#pragma once

#include <cstddef>
#include <mutex>

namespace tw::library {

// What was decided lately. A set is locked for the time of a copy, so that threads meet only where
// they ask for the same shapes.
template <class Key, class Decision>
class Recent {
 public:
  bool find(Decision& decision, const Key& key) {
    Set& set = set_of(key);
    const std::lock_guard lock(set.mutex);
    for (const Entry& entry : set.entries) {
      if (entry.key != key) continue;
      decision = entry.decision;
      return true;
    }
    return false;
  }
  void store(const Decision& decision, const Key& key) {
    Set& set = set_of(key);
    const std::lock_guard lock(set.mutex);
    set.entries[set.oldest] = {key, decision};
    set.oldest = (set.oldest + 1) % ways;
  }

 private:
  static constexpr std::size_t sets = 256;
  static constexpr std::size_t ways = 4;
  struct Entry {
    Key key;
    Decision decision;
  };
  struct Set {
    std::mutex mutex;
    std::size_t oldest = 0;
    Entry entries[ways];
  };
  Set& set_of(const Key& key) { return sets_[key.hash() % sets]; }
  Set sets_[sets];
};

}  // namespace tw::library
