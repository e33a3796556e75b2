// Everything that the choice of a kernel depends on, as numbers that are compared and hashed: of
// addresses only their alignment.
#pragma once

#include <cstddef>
#include <cstdint>
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

class ProblemKey {
 public:
  // `instance`: the number of the one that the options name, from 1; or 0.
  ProblemKey(const Family& family, const void* problem, const tw_options& options,
             std::int64_t instance, const Place& place);
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

}  // namespace tw::library
