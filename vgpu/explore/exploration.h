// Runs a kernel under every order of its steps that can make a difference: dynamic partial-order
// reduction by source sets (Abdulla, Aronis, Jonsson and Sagonas 2014) with sleep sets, by running
// the kernel again and again. Two steps that commute are tried in one order only. Weak memory is no
// part of the order of steps: it is judged by the machine's clocks, in every run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vgpu/machine/machine.h"
#include "vgpu/machine/step_chooser.h"

namespace tw::vgpu {

// What one run ended with.
struct Outcome {
  Report report;
  bool right = true;  // what the kernel computed
};
// Runs the kernel once, from the same memory, with these options.
using ExploredRun = std::function<Outcome(const Options&)>;

struct ExplorationLimits {
  std::uint64_t executions = 1'000'000;
  double seconds = 600;
  bool reduced = true;      // false: all orders of all steps
  bool to_the_end = false;  // goes on after a run that is not clean
};

struct Exploration {
  enum Verdict { Proved, Refuted, Incomplete };
  Verdict verdict = Incomplete;
  std::string why;                // not proved: the finding, or what stopped it
  std::uint64_t executions = 0;   // runs to the end, no two of them equivalent
  std::uint64_t cut = 0;          // runs that were stopped: another run is equivalent
  std::uint64_t transitions = 0;  // steps of all runs
  std::uint64_t longest = 0;      // steps of the longest run
  // Decimal logarithm of how many orders of steps the executions stand for, at least: of each, by
  // the bound of n! over the product of how many steps must come before (or behind) each step, with
  // itself (Hammett and Pittel 2008).
  double log10_interleavings = 0;
  double seconds = 0;
  Outcome refutation;             // the first run that is not clean
  std::vector<Process> schedule;  // its steps
};

// `each`, if any, hears of every execution.
Exploration explore(const ExploredRun& run, const ExplorationLimits& limits,
                    const std::function<void(const Outcome&)>& each = {});

// One run by a schedule: the given steps, then whoever can go, the lowest first. Throws where a
// step of the schedule is not possible.
Outcome replay(const ExploredRun& run, const std::vector<Process>& schedule);

// "0*12,0'1,2": twelve steps of thread 0, its first landing, one step of thread 2.
std::string to_text(const std::vector<Process>& schedule);
std::vector<Process> schedule_of(const std::string& text);  // throws where it is none

}  // namespace tw::vgpu
