// What all drivers read from the command line, and what they print.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "src/matmul/compare.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

inline vgpu::Landing landing_of(const std::string& name) {
  for (const auto landing : {vgpu::Landing::Eager, vgpu::Landing::Lazy, vgpu::Landing::Random,
                             vgpu::Landing::Adversarial}) {
    if (name == name_of(landing)) return landing;
  }
  throw std::runtime_error("There is no landing policy " + name + ".");
}

inline vgpu::Checker checker_of(const std::string& name) {
  for (unsigned i = 0; i < vgpu::checker_count; ++i) {
    const auto checker = static_cast<vgpu::Checker>(i);
    if (name == name_of(checker)) return checker;
  }
  throw std::runtime_error("There is no checker " + name + ".");
}

// From `first` on: LANDING SEED [CHECKER_TO_SWITCH_OFF...]
inline void read_schedule(vgpu::Options& options, int first, int count, char** arguments) {
  options.landing = landing_of(arguments[first]);
  options.seed = std::stoull(arguments[first + 1]);
  for (int i = first + 2; i < count; ++i) options.disabled.insert(checker_of(arguments[i]));
}

inline void print(const nlohmann::json& line) { std::printf("%s\n", line.dump().c_str()); }

inline void print(const vgpu::Report& report, const Comparison& result) {
  for (const vgpu::Finding& finding : report.findings) {
    print({{"finding", finding.name},
           {"role", finding.role},
           {"stage", finding.stage},
           {"text", finding.text}});
  }
  for (const std::string& text : report.incomplete) print({{"incomplete", text}});
  if (!result.good()) print({{"wrong result", result.complaint()}});
}

// The driver's status; 2 with a sentence where it throws.
inline int guarded(int count, char** arguments, int (*run)(int, char**)) {
  try {
    return run(count, arguments);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 2;
  }
}

}  // namespace tw::planted
