// Decisions that need not be made again, by all that they depend on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "src/library/device.h"
#include "src/library/families.h"

namespace tw::library {

// 0: null.
constexpr std::int64_t alignment_word(const void* address) {
  if (address == nullptr) return 0;
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(address) | 16;
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

// Everything that the choice of a kernel depends on, as numbers that are compared and hashed: of
// addresses only their alignment.
class ProblemKey {
 public:
  // `instance`: the number of the one that the options name, from 1; or 0.
  ProblemKey(const Family& family, const void* problem, const tw_options& options,
             std::int64_t instance, const Device& device);
  // Equal to no key of a problem.
  ProblemKey() = default;

  bool operator==(const ProblemKey&) const = default;
  std::uint64_t hash() const;

  // A sentence about the first word in which this differs from a plan's key, of the same family;
  // there is one.
  std::string difference(const ProblemKey& planned) const;

 private:
  const Family* family_ = nullptr;
  std::vector<std::int64_t> words_;
};

struct Decision {
  Choice choice;
  const Gpu* gpu = nullptr;  // null: the virtual GPU
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
