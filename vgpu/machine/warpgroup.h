// A warpgroup as the tensor core sees it: the products its threads have issued, in order, and the
// accumulators that these products own until the threads have waited for them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "vgpu/data/wgmma.h"
#include "vgpu/machine/clock.h"
#include "vgpu/machine/wait.h"

namespace tw::vgpu {

struct Cta;

constexpr unsigned warpgroup_threads = 128;

// One accumulator tile while products are in flight on it. The threads' registers are poisoned
// meanwhile; the numbers live here, and each thread gets its share back when it has waited.
struct Accumulator {
  unsigned n = 0;
  unsigned owned_threads = 0;                                    // threads whose registers are here
  std::array<std::uint32_t*, warpgroup_threads> registers = {};  // null: not here
  std::array<std::uint64_t, warpgroup_threads> last_op = {};
  std::vector<std::uint32_t> values;  // (thread, n / 2): bits of float or of int32

  std::uint32_t* values_of(unsigned thread) { return values.data() + thread * (n / 2); }
};

// What all threads of a warpgroup must give to the same wgmma.
struct WgmmaArguments {
  WgmmaShape shape;
  bool a_from_registers = false;
  bool accumulate = false;
  std::uint64_t a = 0, b = 0;  // descriptors
  std::uint64_t group = 0;     // in which it will be committed

  bool operator==(const WgmmaArguments&) const = default;
};

// One wgmma: complete in its issue when all threads of the warpgroup have issued it.
struct WgmmaOp {
  WgmmaArguments arguments;
  unsigned issued_threads = 0;
  Accumulator* accumulator = nullptr;
  std::uint64_t step = 0;
  std::uint64_t time = 0;  // latest issue, then completion
  std::array<std::array<std::uint32_t, 4>, warpgroup_threads> a_registers;
  CommonView common;       // what all threads knew when they issued it
  WgmmaOperands operands;  // decoded when the issue is complete
};

struct Warpgroup {
  Cta* cta = nullptr;
  unsigned index = 0;
  unsigned threads = 0;                      // fewer than 128: wgmma is refused
  std::deque<std::unique_ptr<WgmmaOp>> ops;  // ops[0] is product number `landed_ops`
  std::uint64_t landed_ops = 0;
  std::vector<std::uint64_t> landed_times;  // one for each product that has landed
  std::vector<std::uint64_t> group_ends;    // products issued when group g was committed
  std::vector<std::unique_ptr<Accumulator>> accumulators;
  std::vector<std::unique_ptr<WgmmaOp>> spare_ops;
  WaitList waiters;
  Slot agent = no_slot;
  ClockRef done;
};

}  // namespace tw::vgpu
