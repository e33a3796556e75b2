// Decisions that need not be made again, by all that they depend on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/library/device.h"
#include "src/library/families.h"

namespace tw::library {

// 0: null.
std::int64_t alignment_word(const void* address);

// Everything that the choice of a kernel depends on, as numbers that are compared and hashed: of
// addresses only their alignment.
class ProblemKey {
 public:
  // `instance`: the number of the one that the options name, from 1; or 0.
  ProblemKey(const Family& family, const void* problem, const tw_options& options,
             std::int64_t instance, const Device& device);
  // Equal to no key of a problem.
  ProblemKey();

  bool operator==(const ProblemKey& other) const;
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

// What was decided lately, by any thread: whether there is a decision for the key.
bool find_recent(Decision& decision, const ProblemKey& key);
void remember(const Decision& decision, const ProblemKey& key);

}  // namespace tw::library
