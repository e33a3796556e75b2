// Several groups of warps in the epilogue role, which may hold the sums in registers.
#pragma once

#include "tilewright/isa/threads.h"
#include "tilewright/kernel/roles.h"

namespace tw::kernel {

// A thread of the epilogue role has a group and a place in it; groups share a tile by columns.
struct StoringThread {
  unsigned group;
  unsigned in_group;
};
template <RoleTable roles>
TW_DEVICE StoringThread storing_thread(unsigned thread) {
  constexpr unsigned groups = roles.storing_groups();
  constexpr unsigned threads = roles.epilogue.warps / groups * roles.lanes;
  if constexpr (groups == 1) return {0, thread};
  return {thread / threads, thread % threads};
}

// Where the epilogue's warps hold sums, all others leave registers to them. These take them on the
// way to their own code alone: behind a join, ptxas would count the fewer for both.
template <RoleTable roles>
TW_DEVICE void let_registers_go(unsigned warp) {
  const bool in_epilogue = warp - roles.epilogue.first_warp < roles.epilogue.warps;
  if (!in_epilogue) isa::setmaxnreg_decrease<roles.load.registers>();
}
template <RoleTable roles>
TW_DEVICE void take_registers() {
  if constexpr (roles.holds_in_epilogue()) isa::setmaxnreg_increase<roles.epilogue.registers>();
}

}  // namespace tw::kernel
