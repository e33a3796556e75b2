// One kernel under many schedules: what ./tw check does, for kernels of one's own.
#pragma once

#include <cstdio>
#include <iterator>
#include <span>

#include "vgpu/machine/machine.h"
#include "vgpu/tensor_map.h"

namespace tw::vgpu {

// `run` takes the options of a schedule and the report to write, and says whether the results are
// right; it need not look at them after a finding. Prints the first finding and a verdict; the
// result is the exit status of a program.
template <class Run>
int check_schedules(unsigned count, const Run& run) {
  constexpr Landing landings[] = {Landing::Eager, Landing::Lazy, Landing::Random,
                                  Landing::Adversarial};
  unsigned clean = 0;
  for (unsigned i = 0; i < count; ++i) {
    Options options;
    options.landing = landings[i % std::size(landings)];
    options.seed = 1 + i / std::size(landings);
    Report report;
    const bool right = run(options, report);
    if (right && report.verdict() == Report::Clean) {
      ++clean;
    } else if (clean == i && !report.findings.empty()) {  // the first that is not clean
      std::printf("%s: %s\n", report.findings[0].name.c_str(), report.findings[0].text.c_str());
    } else if (clean == i && !report.incomplete.empty()) {
      std::printf("%s\n", report.incomplete[0].c_str());
    }
  }
  std::printf("%u of %u schedules are clean and right\n", clean, count);
  return clean == count ? 0 : 1;
}

// One launch, and what is right after it. After a finding nobody asks: what `is_right` prints of
// wrong numbers would hide the sentence that says why.
template <class IsRight>
int check_schedules(unsigned count, const Launch& launch, std::span<const GlobalRange> memory,
                    const IsRight& is_right) {
  return check_schedules(count, [&](const Options& options, Report& report) {
    report = run(launch, memory, options);
    return report.findings.empty() && is_right();
  });
}

}  // namespace tw::vgpu
