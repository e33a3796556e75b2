// What was measured.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "src/bench/case.h"

namespace tw::bench {

// Of the device while a kernel ran; 0 where it does not tell. The driver averages watts over about
// a second: they are of all kernels of a shape, while the clock is of the one that ran.
struct Reading {
  double sm_mhz = 0;
  double watts = 0;
  double celsius = 0;
};

struct Measurement {
  std::string name;
  std::string refused;  // why it did not run; empty when it did
  double median_us = 0;
  double low_us = 0;  // fastest and slowest round
  double high_us = 0;
  Reading reading;
  bool ran() const { return refused.empty(); }
};

struct ShapeResult {
  MatmulCase shape;
  std::optional<Measurement> peer;        // the fastest of its algorithms
  std::vector<Measurement> own;           // several where each was to be shown
  std::optional<Measurement> rounded_up;  // ours at shape.rounded_up()
  std::optional<Measurement> compiled;    // the fastest of a shortlist, beside the library's choice

  // The fastest of ours; null where none ran.
  const Measurement* best() const {
    const Measurement* fastest = nullptr;
    for (const Measurement& one : own) {
      if (one.ran() && (fastest == nullptr || one.median_us < fastest->median_us)) fastest = &one;
    }
    return fastest;
  }
  // The peer's time over a kernel's; 0 where one of them did not run.
  double ratio(const Measurement& kernel) const {
    return peer && peer->ran() && kernel.ran() ? peer->median_us / kernel.median_us : 0;
  }
  double ratio() const { return best() == nullptr ? 0 : ratio(*best()); }
  // Our time over that of the rounded-up product; 0 where one of them did not run.
  double of_rounded_up() const {
    if (best() == nullptr || !rounded_up || !rounded_up->ran()) return 0;
    return best()->median_us / rounded_up->median_us;
  }
  // Our time over that of the fastest kernel that is compiled, at least 1; 0 where none was sought.
  double regret() const {
    if (best() == nullptr || !compiled || !compiled->ran()) return 0;
    return std::max(1.0, best()->median_us / compiled->median_us);
  }
};

inline double tflops(const MatmulCase& shape, double us) { return 1e-6 * shape.flops() / us; }
inline double terabytes(const MatmulCase& shape, double us) { return 1e-6 * shape.bytes() / us; }

}  // namespace tw::bench
