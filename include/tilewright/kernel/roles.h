// The role table of a kernel: who does what, with how many registers. Counts derive from it.
#pragma once

namespace tw {

// How several multiplying warpgroups share the work: all on one tile, or every group its own tile
// in turn, so that one stores while the other multiplies.
enum class Consumers : unsigned { Cooperative, PingPong };

struct RoleTable {
  unsigned load_warps;  // one thread of the first issues the copies
  unsigned load_registers;
  unsigned multiply_groups;  // warpgroups of 128 threads, which also run the epilogue
  unsigned multiply_registers;
  Consumers consumers;

  static constexpr unsigned group_threads = 128;
  // setmaxnreg acts on whole warpgroups, so the loading warps fill one.
  constexpr unsigned load_threads() const {
    return (load_warps * 32 + group_threads - 1) / group_threads * group_threads;
  }
  constexpr unsigned threads() const { return load_threads() + multiply_groups * group_threads; }
  constexpr unsigned registers() const {
    return load_threads() * load_registers + multiply_groups * group_threads * multiply_registers;
  }
};

}  // namespace tw
