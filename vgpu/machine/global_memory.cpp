#include "vgpu/machine/global_memory.h"

#include <algorithm>

namespace tw::vgpu {

GlobalMemory::GlobalMemory(std::span<const GlobalRange> ranges, bool check) {
  for (const GlobalRange& range : ranges) {
    const auto* begin = static_cast<const std::byte*>(range.begin);
    ranges_.push_back({begin, begin + range.bytes, range.name, range.writable, {}, {}});
    if (check && range.writable) {
      ranges_.back().shadow = std::make_unique<GlobalShadow>(begin, range.bytes, range.name);
    }
    if (!range.initialised) ranges_.back().written.assign(range.bytes, false);
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& left, const Range& right) { return left.begin < right.begin; });
}

GlobalMemory::Range* GlobalMemory::find(const void* address, std::size_t bytes) {
  const auto holds = [&](const Range& range) {
    return lies_in(address, bytes, range.begin, static_cast<std::size_t>(range.end - range.begin));
  };
  if (last_ < ranges_.size() && holds(ranges_[last_])) return &ranges_[last_];
  for (std::size_t index = 0; index < ranges_.size(); ++index) {
    if (holds(ranges_[index])) {
      last_ = index;
      return &ranges_[index];
    }
  }
  return nullptr;
}

const GlobalMemory::Range* GlobalMemory::nearest(const void* address) const {
  const Range* found = nullptr;
  for (const Range& range : ranges_) {
    if (range.begin <= address) found = &range;
  }
  return found;
}

bool GlobalMemory::initialised(const Range& range, const void* address, std::size_t bytes) {
  if (range.written.empty()) return true;
  const auto first = range.written.begin() + (static_cast<const std::byte*>(address) - range.begin);
  return std::find(first, first + static_cast<std::ptrdiff_t>(bytes), false) ==
         first + static_cast<std::ptrdiff_t>(bytes);
}

void GlobalMemory::mark_written(Range& range, const void* address, std::size_t bytes) {
  if (range.written.empty()) return;
  const auto first = range.written.begin() + (static_cast<const std::byte*>(address) - range.begin);
  std::fill(first, first + static_cast<std::ptrdiff_t>(bytes), true);
}

}  // namespace tw::vgpu
