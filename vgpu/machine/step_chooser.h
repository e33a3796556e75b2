// Who decides every step of a run in place of the landing policy: one instruction of a thread, or
// one landing. A thread that must wait for an mbarrier or a counter takes no step until it may go.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "vgpu/machine/footprint.h"

namespace tw::vgpu {

// A thread of the grid, or something that lands on its own: the same in every run of a kernel,
// whatever the order of steps.
struct Process {
  std::uint32_t thread = 0;   // over all CTAs
  std::uint32_t landing = 0;  // 0: the thread itself; n: the n-th landing that it submitted
  auto operator<=>(const Process&) const = default;
  std::uint64_t id() const { return std::uint64_t{landing} << 32 | thread; }
};

struct BlockedProcess {
  Process process;
  Touch awaits;
};

class StepChooser {
 public:
  virtual ~StepChooser() = default;
  // Which of these steps next: its index; or -1, and the run ends. The blocked ones wait for what
  // other steps may bring.
  virtual int choose(std::span<const Process> enabled, std::span<const BlockedProcess> blocked) = 0;
  // What the chosen step touched.
  virtual void stepped(Footprint footprint) = 0;
};

}  // namespace tw::vgpu
