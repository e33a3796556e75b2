// The accumulator registers that a thread has touched since its last wgmma.fence.
#pragma once

#include <algorithm>
#include <array>

namespace tw::vgpu {

class TouchedFragments {
 public:
  void touch(const float* begin, unsigned count) {
    for (unsigned i = 0; i < used_; ++i) {
      if (touch_each_other(ranges_[i], begin, count)) {
        const float* end = std::max(ranges_[i].end, begin + count);
        ranges_[i] = {std::min(ranges_[i].begin, begin), end};
        return;
      }
    }
    // The oldest makes room: forgetting it can miss a bug, never invent one.
    if (used_ == ranges_.size()) std::rotate(ranges_.begin(), ranges_.begin() + 1, ranges_.end());
    if (used_ < ranges_.size()) ++used_;
    ranges_[used_ - 1] = {begin, begin + count};
  }
  bool contains(const float* begin, unsigned count) const {
    for (unsigned i = 0; i < used_; ++i) {
      if (overlap(ranges_[i], begin, count)) return true;
    }
    return false;
  }
  void clear() { used_ = 0; }

 private:
  struct Range {
    const float* begin;
    const float* end;
  };
  // Neighbours too: code that walks over a fragment must not fill the table.
  static bool touch_each_other(const Range& range, const float* begin, unsigned count) {
    return begin <= range.end && range.begin <= begin + count;
  }
  static bool overlap(const Range& range, const float* begin, unsigned count) {
    return begin < range.end && range.begin < begin + count;
  }

  std::array<Range, 8> ranges_;
  unsigned used_ = 0;
};

}  // namespace tw::vgpu
