// A set of accumulator registers, as ranges of one thread's memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace tw::vgpu {

class FragmentSet {
 public:
  void insert(const std::uint32_t* begin, unsigned count) {
    for (unsigned i = 0; i < used_; ++i) {
      if (meet(ranges_[i], begin, count)) {
        const std::uint32_t* end = std::max(ranges_[i].end, begin + count);
        ranges_[i] = {std::min(ranges_[i].begin, begin), end};
        return;
      }
    }
    if (used_ == ranges_.size()) {
      std::rotate(ranges_.begin(), ranges_.begin() + 1, ranges_.end());
      forgetful_ = true;
    } else {
      ++used_;
    }
    ranges_[used_ - 1] = {begin, begin + count};
  }
  void clear() {
    used_ = 0;
    forgetful_ = false;
  }
  // Some of these registers are in the set.
  bool contains(const std::uint32_t* begin, unsigned count) const {
    for (unsigned i = 0; i < used_; ++i) {
      if (begin < ranges_[i].end && ranges_[i].begin < begin + count) return true;
    }
    return false;
  }
  // The same, unless the set had to forget some.
  bool may_contain(const std::uint32_t* begin, unsigned count) const {
    return forgetful_ || contains(begin, count);
  }

 private:
  struct Range {
    const std::uint32_t* begin;
    const std::uint32_t* end;
  };
  // Neighbours count: code that walks over a fragment must not fill the table.
  static bool meet(const Range& range, const std::uint32_t* begin, unsigned count) {
    return begin <= range.end && range.begin <= begin + count;
  }

  std::array<Range, 8> ranges_;
  unsigned used_ = 0;
  bool forgetful_ = false;
};

}  // namespace tw::vgpu
