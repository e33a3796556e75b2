// A failing case, made as simple as it can be while it still fails.
#pragma once

#include <functional>

#include "src/cli/fuzz_case.h"
#include "src/verify/case.h"

namespace tw::cli {

struct ScheduledCase {
  Case shape;
  vgpu::Options schedule = {};  // where it runs on the virtual GPU

  // Compares their lines: structs may differ in bytes between their members.
  friend bool same_problem(const ScheduledCase& one, const ScheduledCase& other) {
    return run_line(one.shape) == run_line(other.shape) &&
           one.schedule.landing == other.schedule.landing &&
           one.schedule.sm_count == other.schedule.sm_count &&
           one.schedule.seed == other.schedule.seed;
  }
};

// Simplifies one thing at a time, until nothing more can go or `tries` cases were asked about.
// `fails` must hold for `failing`; it gets cases that their instances take.
ScheduledCase shrink(const ScheduledCase& failing,
                     const std::function<bool(const ScheduledCase&)>& fails,
                     int tries = shrink_tries);

}  // namespace tw::cli
