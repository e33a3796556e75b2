// The memory ranges that a kernel may touch, which of their bytes have been written, and by whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/machine/global_shadow.h"
#include "vgpu/machine/machine.h"

namespace tw::vgpu {

// Whether [begin, begin + bytes) lies in [first, first + room). The sum of an address and a size
// may wrap, so it is not made.
inline bool lies_in(const void* begin, std::size_t bytes, const void* first, std::size_t room) {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(begin) - reinterpret_cast<std::uintptr_t>(first);
  return begin >= first && bytes <= room && offset <= room - bytes;
}

// Which bytes of a range somebody has written. A page is made when somebody writes to it: outputs
// may have few elements and a long way between them.
class WrittenBytes {
 public:
  explicit WrittenBytes(std::size_t bytes) : pages_(bytes / page_bytes + 1) {}
  bool all(std::size_t first, std::size_t count) const;
  void mark(std::size_t first, std::size_t count);

 private:
  static constexpr std::size_t page_bytes = 4096;
  struct Page {
    std::uint64_t words[page_bytes / 64] = {};
  };
  // visit(page index, word index, mask) for all words with bytes of [first, first + count), until
  // it returns false.
  template <class Visit>
  static bool every_word(std::size_t first, std::size_t count, const Visit& visit);

  std::vector<std::unique_ptr<Page>> pages_;
};

class GlobalMemory {
 public:
  GlobalMemory(std::span<const GlobalRange> ranges, bool check);

  struct Range {
    const std::byte* begin;
    const std::byte* end;
    const char* name;
    bool writable;
    bool constant;
    std::unique_ptr<WrittenBytes> written;  // null: the range was initialised
    std::unique_ptr<GlobalShadow> shadow;  // null: nobody may write, or nobody checks
  };
  // The range that holds all these bytes, or null.
  Range* find(const void* begin, std::size_t bytes);
  // The range that starts last at or before the address, or null: for reports.
  const Range* nearest(const void* address) const;

  static bool initialised(const Range& range, const void* begin, std::size_t bytes);
  static void mark_written(Range& range, const void* begin, std::size_t bytes);

 private:
  std::vector<Range> ranges_;  // by address
  std::size_t last_ = 0;       // accesses come in clusters
};

}  // namespace tw::vgpu
