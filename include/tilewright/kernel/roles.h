// The role table of a kernel: who does what, with how many registers. Counts derive from it.
#pragma once

#include "tilewright/base/require.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// How several multiplying groups share the work: all on one tile, or every group its own tile in
// turn, so that one stores while the other multiplies.
enum class Consumers : unsigned { Cooperative, PingPong };

struct RoleSpec {
  unsigned first_warp = 0;
  unsigned warps = 0;      // 0: nobody plays it
  unsigned registers = 0;  // of each thread, by setmaxnreg; 0: as launched

  constexpr bool played() const { return warps > 0; }
  constexpr unsigned end() const { return first_warp + warps; }
};

struct RoleTable {
  RoleSpec load = {};
  RoleSpec side = {};  // brings parts of a stage that the load role does not
  RoleSpec schedule = {};
  RoleSpec source = {};    // brings the epilogue's source tiles
  RoleSpec multiply = {};  // in `groups` of equally many warps
  RoleSpec epilogue = {};  // where the accumulator stays in the multiplying warps they play it, too
  unsigned groups = 1;
  Consumers consumers = Consumers::Cooperative;

  static constexpr unsigned warpgroup_warps = 4;

  constexpr unsigned warps() const {
    unsigned last = 0;
    for (const RoleSpec& role : {load, side, schedule, source, multiply, epilogue}) {
      if (role.played() && role.end() > last) last = role.end();
    }
    return last;
  }
  constexpr unsigned threads() const { return warps() * 32; }
  constexpr unsigned group_warps() const { return multiply.warps / groups; }
  constexpr unsigned group_threads() const { return group_warps() * 32; }
  constexpr unsigned storing_warps() const {
    return epilogue.played() ? epilogue.warps : multiply.warps;
  }
  // Warps that must learn of work that is announced. One thread loads where that is done.
  constexpr unsigned listening_warps() const {
    return 1 + side.warps + schedule.warps + source.warps + multiply.warps + epilogue.warps;
  }
  // setmaxnreg acts on whole warpgroups: the helpers fill one, the multiplying warps the others.
  constexpr bool shifts_registers() const { return multiply.registers != 0; }
  constexpr unsigned registers() const {
    return multiply.first_warp * 32 * load.registers + multiply.warps * 32 * multiply.registers;
  }

  // The same with a side role, of the first warp that plays nothing, and of those behind it that
  // are there anyway.
  consteval RoleTable with_side() const {
    RoleTable table = *this;
    unsigned first = 0;
    while (plays(first)) ++first;
    unsigned end = first + 1;
    while (end < warps() && !plays(end)) ++end;
    table.side = {first, end - first};
    return table;
  }
  constexpr bool plays(unsigned warp) const {
    for (const RoleSpec& role : {load, side, schedule, source, multiply, epilogue}) {
      if (warp - role.first_warp < role.warps) return true;
    }
    return false;
  }

  consteval RoleTable checked() const {
    require(multiply.warps % groups == 0, "The multiplying warps must form equal groups.");
    require(!shifts_registers() || multiply.first_warp % warpgroup_warps == 0,
            "Registers are shifted between whole warpgroups: multiplying warps must begin at one.");
    return *this;
  }
};

}  // namespace tw
