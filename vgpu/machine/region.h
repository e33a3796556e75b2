// Named pieces of shared memory, as the kernel described them: for reports.
#pragma once

#include <cstdint>
#include <vector>

namespace tw::vgpu {

struct Region {
  std::uint32_t begin = 0, end = 0;  // offsets
  const char* name = nullptr;
  int stage = -1;
};

class Regions {
 public:
  // Every thread may describe the same region; memory that is used again gets its latest name.
  void describe(const Region& region) {
    for (Region& known : regions_) {
      if (known.begin == region.begin && known.end == region.end) {
        known = region;
        return;
      }
    }
    regions_.push_back(region);
  }
  // The smallest region around the offset, null if there is none.
  const Region* find(std::uint32_t offset) const {
    const Region* found = nullptr;
    for (const Region& region : regions_) {
      if (offset < region.begin || offset >= region.end) continue;
      if (found == nullptr || region.end - region.begin < found->end - found->begin) {
        found = &region;
      }
    }
    return found;
  }

 private:
  std::vector<Region> regions_;
};

}  // namespace tw::vgpu
