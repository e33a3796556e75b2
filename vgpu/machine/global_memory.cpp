#include "vgpu/machine/global_memory.h"

#include <algorithm>

namespace tw::vgpu {

template <class Visit>
bool WrittenBytes::every_word(std::size_t first, std::size_t count, const Visit& visit) {
  while (count > 0) {
    const std::size_t bit = first % 64;
    const std::size_t here = std::min<std::size_t>(count, 64 - bit);
    const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1)
                               << bit;
    if (!visit(first / page_bytes, first % page_bytes / 64, mask)) return false;
    first += here;
    count -= here;
  }
  return true;
}

bool WrittenBytes::all(std::size_t first, std::size_t count) const {
  return every_word(first, count, [&](std::size_t page, std::size_t word, std::uint64_t mask) {
    return pages_[page] != nullptr && (pages_[page]->words[word] & mask) == mask;
  });
}

void WrittenBytes::mark(std::size_t first, std::size_t count) {
  every_word(first, count, [&](std::size_t page, std::size_t word, std::uint64_t mask) {
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    pages_[page]->words[word] |= mask;
    return true;
  });
}

GlobalMemory::GlobalMemory(std::span<const GlobalRange> ranges, bool check) {
  for (const GlobalRange& range : ranges) {
    const auto* begin = static_cast<const std::byte*>(range.begin);
    ranges_.push_back(
        {begin, begin + range.bytes, range.name, range.writable, range.constant, {}, {}});
    if (check && range.writable) {
      ranges_.back().shadow = std::make_unique<GlobalShadow>(begin, range.bytes, range.name);
    }
    if (!range.initialised) {
      ranges_.back().written = std::make_unique<WrittenBytes>(range.bytes);
    }
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
  const auto first = static_cast<std::size_t>(static_cast<const std::byte*>(address) - range.begin);
  return range.written == nullptr || range.written->all(first, bytes);
}

void GlobalMemory::mark_written(Range& range, const void* address, std::size_t bytes) {
  const auto first = static_cast<std::size_t>(static_cast<const std::byte*>(address) - range.begin);
  if (range.written != nullptr) range.written->mark(first, bytes);
}

}  // namespace tw::vgpu
