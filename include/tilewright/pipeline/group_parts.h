// Parts of sums that groups of a CTA have made, each of other k: all but the first group leave
// theirs in shared memory, where the first adds them up in the order of the groups.
#pragma once

#include <bit>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/threads.h"

namespace tw {

// `threads` of a group have `words` each.
template <unsigned groups, unsigned threads, unsigned words>
class GroupParts {
  static_assert(words % 4 == 0, "Words lie by four.");
  // Barrier 0 is the CTA's; groups have those behind it.
  static constexpr unsigned barrier = 1 + groups;
  static constexpr unsigned part_bytes = threads * words * 4;

 public:
  struct Storage {
    alignas(16) unsigned char parts[groups - 1][part_bytes];
  };
  static TW_DEVICE void init(Storage& storage) {
    isa::describe_shared(isa::shared_address(&storage), sizeof(Storage), "parts of groups", 0);
  }

  TW_DEVICE GroupParts(Storage& storage, unsigned group, unsigned thread)
      : group_(group), parts_(isa::shared_address(&storage) + thread * 16) {}

  TW_DEVICE bool is_first() const { return group_ == 0; }

  // All groups call it. In the first, the numbers of all are then added up.
  template <class Value>
  TW_DEVICE void add_up(Value (&sums)[words]) {
    // All groups arrive. Those behind the first may then write over what it has read before.
    if (is_used_) isa::barrier_sync(barrier, groups * threads);
    is_used_ = true;
    if (group_ != 0) write(sums);
    // All groups arrive when theirs is written. The first reads them.
    isa::barrier_sync(barrier, groups * threads);
    if (group_ == 0) read(sums);
  }

 private:
  static constexpr unsigned line_bytes = threads * 16;

  template <class Value>
  TW_DEVICE void write(const Value (&sums)[words]) const {
    const SharedAddress to = parts_ + (group_ - 1) * part_bytes;
    TW_UNROLL
    for (unsigned i = 0; i < words; i += 4) {
      std::uint32_t four[4];
      TW_UNROLL
      for (unsigned j = 0; j < 4; ++j) four[j] = std::bit_cast<std::uint32_t>(sums[i + j]);
      isa::store_shared_16(to + i / 4 * line_bytes, four);
    }
  }
  template <class Value>
  TW_DEVICE void read(Value (&sums)[words]) const {
    TW_UNROLL
    for (unsigned part = 0; part < groups - 1; ++part) {
      TW_UNROLL
      for (unsigned i = 0; i < words; i += 4) {
        std::uint32_t four[4];
        isa::load_shared_16(four, parts_ + part * part_bytes + i / 4 * line_bytes);
        TW_UNROLL
        for (unsigned j = 0; j < 4; ++j) sums[i + j] += std::bit_cast<Value>(four[j]);
      }
    }
  }

  unsigned group_;
  SharedAddress parts_;
  bool is_used_ = false;
};

}  // namespace tw
