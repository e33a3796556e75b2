// The role table of a kernel: who does what, with how many registers. Counts derive from it.
#pragma once

#include <algorithm>

#include "tilewright/base/require.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// How several multiplying groups share the work: all on one tile, each with rows of its own; every
// group its own tile in turn, so that one stores while the other multiplies; or all on one tile,
// with stages in turn, so that each sums up other k, and their sums are added up.
enum class Consumers : unsigned { Cooperative, PingPong, AlongK };

struct RoleSpec {
  unsigned first_warp = 0;
  unsigned warps = 0;      // 0: nobody plays it
  unsigned registers = 0;  // each thread's, by setmaxnreg; 0: what the launch gives

  constexpr bool played() const { return warps > 0; }
  constexpr unsigned end() const { return first_warp + warps; }
};

// A role that the skeleton does not know, but the program that it runs.
struct OwnRole {
  Role role = Role::Load;
  RoleSpec spec = {};
};

struct RoleTable {
  RoleSpec load = {};
  RoleSpec schedule = {};
  RoleSpec source = {};    // brings the epilogue's source tiles
  RoleSpec multiply = {};  // in `groups` of equally many warps
  RoleSpec epilogue = {};  // where the accumulator stays in the multiplying warps they play it, too
  unsigned groups = 1;
  Consumers consumers = Consumers::Cooperative;
  OwnRole own[2] = {};     // roles that the program adds
  unsigned lanes = 32;     // threads of a warp on the target
  unsigned residents = 1;  // CTAs that share an SM, and its registers

  static constexpr unsigned warpgroup_warps = 4;

  // 0: nobody plays it.
  constexpr RoleSpec spec_of(Role role) const {
    if (role == Role::Load) return load;
    if (role == Role::Schedule) return schedule;
    if (role == Role::Source) return source;
    if (role == Role::Multiply) return multiply;
    if (role == Role::Epilogue) return epilogue;
    for (const OwnRole& other : own) {
      if (other.role == role) return other.spec;
    }
    return {};
  }

  constexpr unsigned warps() const {
    unsigned last = 0;
    const All every = all();
    for (const RoleSpec& role : every.specs) {
      if (role.played()) last = std::max(last, role.end());
    }
    return last;
  }
  constexpr unsigned threads() const { return warps() * lanes; }
  constexpr unsigned group_warps() const { return multiply.warps / groups; }
  constexpr unsigned group_threads() const { return group_warps() * lanes; }
  // Warps that must learn of work that is announced. One thread loads where that is done.
  constexpr unsigned listening_warps() const {
    unsigned sum = 1 - load.warps;
    const All every = all();
    for (const RoleSpec& role : every.specs) sum += role.warps;
    return sum;
  }
  // Groups of warps that store, each at a barrier of its own.
  constexpr unsigned storing_groups() const {
    return epilogue.played() ? epilogue.warps / warpgroup_warps : groups;
  }
  // setmaxnreg acts on whole warpgroups: the helpers fill one, those that hold sums the others.
  constexpr bool shifts_registers() const { return multiply.registers != 0; }
  constexpr bool holds_in_epilogue() const { return epilogue.registers != 0; }
  constexpr RoleSpec holding() const { return holds_in_epilogue() ? epilogue : multiply; }
  constexpr unsigned registers() const {
    const RoleSpec sums = holding();
    return ((warps() - sums.warps) * load.registers + sums.warps * sums.registers) * lanes;
  }
  // A CTA is launched with as many for each thread, by eights; setmaxnreg hands out no others.
  constexpr unsigned launched_registers(unsigned of_sm) const {
    return of_sm / residents / threads() / 8 * 8 * threads();
  }

  // The same on a target of so many lanes.
  consteval RoleTable with_lanes(unsigned count) const {
    RoleTable table = *this;
    table.lanes = count;
    return table;
  }
  // The same with one more role, played by the first warp that plays nothing, and by those behind
  // it that are there anyway.
  consteval RoleTable with(Role role) const {
    RoleTable table = *this;
    unsigned first = 0;
    while (plays(first)) ++first;
    unsigned end = first + 1;
    while (end < warps() && !plays(end)) ++end;
    for (OwnRole& free : table.own) {
      if (free.spec.played()) continue;
      free = {role, {first, end - first}};
      return table;
    }
    require(false, "A program has at most two roles of its own.");
    return table;
  }
  constexpr bool plays(unsigned warp) const {
    const All every = all();
    for (const RoleSpec& role : every.specs) {
      if (warp - role.first_warp < role.warps) return true;
    }
    return false;
  }

  consteval RoleTable checked() const {
    require(multiply.warps % groups == 0, "The multiplying warps must form equal groups.");
    require(groups <= (consumers == Consumers::AlongK && !source.played() ? 4 : 3),
            "At most three groups multiply: so many are brought C; four where they share k.");
    require(holding().registers == 0 || holding().first_warp % warpgroup_warps == 0,
            "Registers are shifted between whole warpgroups: multiplying warps must begin at one.");
    require(epilogue.warps % warpgroup_warps == 0,
            "Sums in tensor memory are read by whole warpgroups: 4 or 8 warps of an epilogue.");
    require(!holds_in_epilogue() || warps() % warpgroup_warps == 0,
            "Registers are shifted between whole warpgroups: the helpers must fill one.");
    return *this;
  }

 private:
  struct All {
    RoleSpec specs[7];
  };
  constexpr All all() const {
    return {{load, schedule, source, multiply, epilogue, own[0].spec, own[1].spec}};
  }
};

}  // namespace tw
