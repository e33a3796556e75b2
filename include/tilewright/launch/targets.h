// Questions to the table of targets.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "tilewright/arch/target.h"

namespace tw {

// Null if there is none of that name.
inline const TargetFacts* target_named(std::string_view name) {
  for (const TargetFacts& target : targets) {
    if (name == target.name) return &target;
  }
  return nullptr;
}

// A device's own target, or that whose PTX it compiles; null if there is none.
inline const TargetFacts* target_of(int capability) {
  for (const TargetFacts& target : targets) {
    const bool is_own = capability >= target.capability_begin && capability < target.own_end;
    if (is_own || target.by_ptx(capability)) return &target;
  }
  return nullptr;
}

// Whether kernels of `target` run on devices whose own target is `device`. Some run longer than the
// others of their target: up to the capability `end`, where it is given.
inline bool runs_on(std::string_view target, std::string_view device, int end = 0) {
  const TargetFacts* const kernel = target_named(target);
  const TargetFacts* const here = target_named(device);
  return kernel != nullptr && here != nullptr &&
         here->capability_begin >= kernel->capability_begin &&
         here->capability_begin < std::max(end, kernel->capability_end);
}

// "sm80, sm90a, sm100a, gfx942 and gfx950"
inline std::string target_names(const char* last = " and ") {
  std::string names;
  constexpr std::size_t count = std::size(targets);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) names += i + 1 == count ? last : ", ";
    names += targets[i].name;
  }
  return names;
}

inline std::string no_target(const std::string& name) {
  return "There is no target '" + name + "'; there are " + target_names() + ".";
}

}  // namespace tw
