// The tracks of a CTA's timeline: which role records on which.
#pragma once

#include "tilewright/kernel/roles.h"

namespace tw::kernel {

// Loading, then each group's multiplying, then each group's storing; behind them, where the roles
// are played, loading scales, bringing sources (for each group that stores) and asking for work.
template <RoleTable roles, unsigned storing_groups>
struct Tracks {
  static constexpr unsigned multiply = 1;
  static constexpr unsigned store = multiply + roles.groups;
  static constexpr unsigned scales = store + storing_groups;
  static constexpr unsigned source = scales + (roles.spec_of(Role::LoadScales).played() ? 1 : 0);
  static constexpr unsigned schedule = source + (roles.source.played() ? storing_groups : 0);
  static constexpr unsigned count = schedule + (roles.schedule.played() ? 1 : 0);
  // Beyond any room: who has it records nothing.
  static constexpr unsigned none = 1 << 24;
  // That of a role that loads: who leads, or brings scales.
  template <class Loads, bool leads>
  static constexpr unsigned of = leads                              ? 0
                                 : Loads::plays == Role::LoadScales ? scales
                                                                    : none;
};

}  // namespace tw::kernel
