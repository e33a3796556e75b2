// Registers that setmaxnreg shifts between the warps of a CTA. An increase waits until there are
// enough of them, so that nothing can be judged before every warp has had its say: at the end.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/machine/engine.h"

namespace tw::vgpu {
namespace {

constexpr unsigned registers_per_multiprocessor = 65536;
constexpr unsigned warpgroup_warps = warpgroup_threads / warp_lanes;

// The first role that was played in these warps.
const char* role_of(const Cta& cta, unsigned first_warp, unsigned warps) {
  const unsigned begin = first_warp * warp_lanes;
  const unsigned end =
      std::min((first_warp + warps) * warp_lanes, static_cast<unsigned>(cta.threads.size()));
  for (unsigned index = begin; index < end; ++index) {
    if (cta.threads[index].role != nullptr) return cta.threads[index].role;
  }
  return nullptr;
}

// False: warps of one warpgroup differ, which says more than any sum.
bool check_warpgroups(Engine& machine, const Cta& cta) {
  for (const Warp& warp : cta.warps) {
    const Warp& first = cta.warps[warp.index / warpgroup_warps * warpgroup_warps];
    if (warp.register_changes == first.register_changes) continue;
    const char* const role = role_of(cta, first.index, warpgroup_warps);
    machine.report_about(role, Checker::RegisterBudget, -1, "warpgroup", [&] {
      return fmt::format(
          "Warp {} of CTA {} has executed {} setmaxnreg, and warp {} of the same warpgroup {}{}: "
          "all warps of a warpgroup must execute the same.",
          warp.index, cta.index, warp.register_changes.size(), first.index,
          first.register_changes.size(),
          warp.register_changes.size() == first.register_changes.size() ? " with other numbers"
                                                                        : "");
    });
    return false;
  }
  return true;
}

unsigned kept_by(const Engine& machine, const Warp& warp) {
  return warp.register_changes.empty() ? machine.launch.registers
                                       : warp.register_changes.back().registers;
}

void check_sum(Engine& machine, const Cta& cta) {
  const unsigned launched = machine.launch.registers;
  unsigned total = 0;
  // To blame: a warp that never said anything and should have let go of some, or who wants most.
  const Warp* blamed = &cta.warps[0];
  for (const Warp& warp : cta.warps) {
    const unsigned registers = kept_by(machine, warp);
    if (registers == 0) return;  // unknown
    total += registers * warp_lanes;
    if (blamed->register_changes.empty()) continue;
    if (warp.register_changes.empty() || registers > kept_by(machine, *blamed)) blamed = &warp;
  }
  const unsigned available = launched == 0
                                 ? registers_per_multiprocessor
                                 : launched * warp_lanes * static_cast<unsigned>(cta.warps.size());
  if (total <= available) return;
  const char* const role =
      role_of(cta, blamed->index / warpgroup_warps * warpgroup_warps, warpgroup_warps);
  machine.report_about(role, Checker::RegisterBudget, -1, "registers", [&] {
    return fmt::format(
        "The warps of CTA {} together want {} registers, and {} {}: setmaxnreg.inc waits for ever. "
        "{} {} {} for each thread.",
        cta.index, total, launched == 0 ? "the multiprocessor has" : "the CTA was launched with",
        available, role == nullptr ? "A warp without a role" : fmt::format("The {} role", role),
        blamed->register_changes.empty() ? "executes no setmaxnreg and keeps" : "asks for",
        kept_by(machine, *blamed));
  });
}

}  // namespace

void check_registers(Engine& machine, const Cta& cta) {
  const bool shifts = std::any_of(cta.warps.begin(), cta.warps.end(),
                                  [](const Warp& warp) { return !warp.register_changes.empty(); });
  if (!shifts || !check_warpgroups(machine, cta)) return;
  check_sum(machine, cta);
}

}  // namespace tw::vgpu
