// The largest number that threads have, or their sum: of neighbours by shuffles, of a CTA through
// shared memory.
#pragma once

#include <bit>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/isa/threads.h"

namespace tw {

TW_DEVICE std::uint32_t larger(std::uint32_t left, std::uint32_t right) {
  return left > right ? left : right;
}

// What two numbers become; zero changes no other.
struct Larger {
  static TW_DEVICE std::uint32_t of(std::uint32_t left, std::uint32_t right) {
    return larger(left, right);
  }
};
struct FloatSum {
  static TW_DEVICE std::uint32_t of(std::uint32_t left, std::uint32_t right) {
    return std::bit_cast<std::uint32_t>(std::bit_cast<float>(left) + std::bit_cast<float>(right));
  }
};

// Each of `lanes` neighbours has `count` numbers (powers of two): lane i of them gets what all
// their numbers i % count become. Whole warps call it. In a step with several numbers left a lane
// hands half of them to another, so that few shuffles serve all.
template <class Join, unsigned lanes, unsigned count>
TW_DEVICE std::uint32_t joined_lanes(std::uint32_t (&numbers)[count], unsigned thread) {
  static_assert(count <= lanes && lanes <= 32);
  TW_UNROLL
  for (unsigned step = 1; step < count; step *= 2) {
    const bool odd = (thread & step) != 0;
    TW_UNROLL
    for (unsigned i = 0; i < count / step / 2; ++i) {
      const std::uint32_t kept = odd ? numbers[2 * i + 1] : numbers[2 * i];
      const std::uint32_t given = odd ? numbers[2 * i] : numbers[2 * i + 1];
      numbers[i] = Join::of(kept, isa::shuffle(given, (thread ^ step) % isa::warp_lanes()));
    }
  }
  TW_UNROLL
  for (unsigned step = count; step < lanes; step *= 2) {
    numbers[0] =
        Join::of(numbers[0], isa::shuffle(numbers[0], (thread ^ step) % isa::warp_lanes()));
  }
  return numbers[0];
}
template <unsigned lanes, unsigned count>
TW_DEVICE std::uint32_t maximum_of_lanes(std::uint32_t (&numbers)[count], unsigned thread) {
  return joined_lanes<Larger, lanes>(numbers, thread);
}

// `warps` of 32 lanes, or halves of waves of 64: numbers are joined in one order on every target.
template <unsigned warps, class Join>
class JoinedCta {
 public:
  struct Storage {
    // One of each warp. Of the two sets one is read while the fastest warps write the other; nobody
    // writes into a set again before all have met once more, and so have read it.
    std::uint32_t numbers[2][warps];
  };

  TW_DEVICE JoinedCta(Storage& storage, unsigned thread)
      : sets_(isa::shared_address(&storage)), thread_(thread) {
    if (thread != 0) return;
    for (unsigned set = 0; set < 2; ++set) {
      isa::describe_shared(sets_ + set * set_bytes, set_bytes, "maxima", set);
    }
  }

  // All threads of the CTA call it.
  TW_DEVICE std::uint32_t of(std::uint32_t number) {
    const SharedAddress set = sets_ + next_ * set_bytes;
    next_ ^= 1;
    std::uint32_t numbers[1] = {number};
    const std::uint32_t own = joined_lanes<Join, 32>(numbers, thread_);
    if (thread_ % 32 == 0) isa::store_shared_4(set + thread_ / 32 * 4, own);
    isa::barrier_sync(0, warps * 32);
    std::uint32_t result = 0;
    TW_UNROLL
    for (unsigned warp = 0; warp < warps; ++warp) {
      result = Join::of(result, isa::load_shared_4(set + warp * 4));
    }
    return result;
  }

 private:
  static constexpr unsigned set_bytes = warps * 4;

  SharedAddress sets_;
  unsigned thread_;
  unsigned next_ = 0;
};
template <unsigned warps>
using CtaMaximum = JoinedCta<warps, Larger>;
template <unsigned warps>
using CtaSum = JoinedCta<warps, FloatSum>;

}  // namespace tw
