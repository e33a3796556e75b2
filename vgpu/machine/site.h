// Where in a kernel an access was made, small enough for every record of a shadow: which k-tile its
// thread was at, and which calls led to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/machine/source_lines.h"
#include "vgpu/machine/stack_pool.h"

namespace tw::vgpu {

struct Site {
  static constexpr std::uint32_t no_step = (1u << 18) - 1;
  static constexpr std::uint32_t most_calls = (1u << 14) - 1;
  std::uint32_t step : 18 = no_step;
  std::uint32_t calls : 14 = 0;  // 0: not known
};

// " at k-tile 3", or nothing.
std::string step_words(const Site& site);

// Where programs number their places themselves.
Site numbered_site(unsigned number, std::uint64_t step);

// The different ways on which a run's instructions are reached. Frames are found by their chain of
// frame pointers: unwinding each access by tables would take longer than all the rest.
class CallSites {
 public:
  // Where the caller stands, who runs on this stack. `step` may be too large for a site.
  Site here(const Stack& stack, std::uint64_t step);
  Frames frames(const Site& site) const;

 private:
  std::vector<Frames> known_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by a hash of the addresses
  struct Recent {
    std::uint64_t hash = 0;
    std::uint32_t number = 0;
  };
  Recent recent_[256];
};

}  // namespace tw::vgpu
