// A schedule of the virtual GPU, as options of the command line.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "tilewright/base/status.h"
#include "vgpu/machine/machine.h"

namespace tw::cli {

// In the order from the simplest to the wildest.
inline constexpr std::pair<const char*, vgpu::Landing> landings[] = {
    {"eager", vgpu::Landing::Eager},
    {"lazy", vgpu::Landing::Lazy},
    {"random", vgpu::Landing::Random},
    {"adversarial", vgpu::Landing::Adversarial},
};

struct ScheduleRequest {
  unsigned sms = 4;
  std::string landing = "random";
  std::uint64_t seed = 1;

  void add_options(CLI::App& command) {
    command.add_option("--sms", sms, "SMs of the virtual GPU")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    command
        .add_option("--landing", landing,
                    "when copies land on the virtual GPU: eager, lazy, random or adversarial")
        ->capture_default_str();
    command.add_option("--schedule-seed", seed, "of the virtual GPU's schedule")
        ->capture_default_str();
  }
  Result<vgpu::Options> resolve() const {
    vgpu::Options options;
    options.sm_count = sms;
    options.seed = seed;
    for (const auto& [name, policy] : landings) {
      if (landing != name) continue;
      options.landing = policy;
      return {Status::good(), options};
    }
    return {Status::refused(fmt::format(
                "--landing is '{}', but must be eager, lazy, random or adversarial.", landing)),
            std::nullopt};
  }
};

// The schedule differs in all but the SMs, whose number may change how sums are cut: results must
// not change.
inline vgpu::Options another_schedule(vgpu::Options options) {
  options.seed += 1;
  options.landing =
      options.landing == vgpu::Landing::Eager ? vgpu::Landing::Adversarial : vgpu::Landing::Eager;
  return options;
}
inline constexpr const char* not_deterministic =
    "not deterministic: the same problem gave other bytes the second time.\n";

// The end of a `./tw run` line that repeats the schedule.
inline std::string schedule_words(const vgpu::Options& options) {
  const char* landing = "";
  for (const auto& [name, policy] : landings) {
    if (policy == options.landing) landing = name;
  }
  return fmt::format(" --on virtual --sms {} --landing {} --schedule-seed {}", options.sm_count,
                     landing, options.seed);
}

}  // namespace tw::cli
