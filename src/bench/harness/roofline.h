// A picture of the measurements below the device's limits.
#pragma once

#include <string>
#include <vector>

#include "src/bench/harness/report.h"

namespace tw::bench {

// An H200's, measured with shared/measure; the record (shared/facts/h200-baseline.md) has no date
// of its own.
struct Limits {
  double bf16_tflops = 883;      // products alone, sustained
  double e4m3_tflops = 1717;     // likewise
  double read_terabytes = 4.55;  // per second
  std::string origin = "measured on an H200 with shared/measure, recorded by 2026-11-15";
};

// SVG: flops per byte against TFLOP/s, one mark per shape for us and one for the peer, numbered;
// beside it what the numbers stand for.
std::string roofline(const RunFacts& facts, const std::vector<ShapeResult>& results,
                     const Limits& limits = {});

}  // namespace tw::bench
