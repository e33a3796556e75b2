// Hopper, sm_90a: TMA loads with multicast, wgmma into registers, TMA stores.
#pragma once

#include "tilewright/kernel/roles.h"

namespace tw {

struct Sm90 {
  static constexpr const char* name = "sm90a";
  static constexpr unsigned shared_bytes = 232448;  // per CTA, opted in; the host checks the device
  static constexpr unsigned registers = 65536;
  static constexpr unsigned max_cluster = 8;

  // The load group keeps the least that setmaxnreg allows and gives the rest away.
  static constexpr RoleTable roles(unsigned multiply_groups, Consumers consumers) {
    return {.load_warps = 1,
            .load_registers = 24,
            .multiply_groups = multiply_groups,
            .multiply_registers = 240,
            .consumers = consumers};
  }
};

}  // namespace tw
