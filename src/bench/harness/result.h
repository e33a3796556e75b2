// What was measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/number/element_type.h"

namespace tw::bench {

// What the device says while a kernel runs; 0 where it does not tell. The driver averages watts
// over about a second: they are of all kernels of a shape, while the clock is of the one that ran.
struct Reading {
  double sm_mhz = 0;
  double watts = 0;
  double celsius = 0;
};

// What a report says of a shape.
struct Shape {
  std::string text;                                           // "4096 x 128 x 64"
  std::vector<std::pair<std::string, std::int64_t>> numbers;  // a suite's numbers, with their names
  ElementType type = ElementType::Bf16;
  std::int64_t m = 0, n = 0, k = 0;  // the product's that it is; 0: nothing is multiplied
  double flops = 0;
  double bytes = 0;  // read and written once
  bool is_decode = false;

  double tflops(double us) const { return 1e-6 * flops / us; }
  double terabytes(double us) const { return 1e-6 * bytes / us; }
};

struct Measurement {
  std::string name;
  std::string refused;  // why it did not run; empty when it did
  double median_us = 0;
  double low_us = 0;  // fastest and slowest round
  double high_us = 0;
  Reading reading;
  double millijoules = 0;  // one launch's, counted where slices last long enough; 0: not counted
  double between_us = 0;   // with a foreign kernel behind each launch, its time included; 0: not
  double between_low_us = 0, between_high_us = 0;
  bool ran() const { return refused.empty(); }
};

// The fastest of those that ran; null where none did.
inline const Measurement* fastest_of(const std::vector<Measurement>& all) {
  const Measurement* fastest = nullptr;
  for (const Measurement& one : all) {
    if (one.ran() && (fastest == nullptr || one.median_us < fastest->median_us)) fastest = &one;
  }
  return fastest;
}

struct ShapeResult {
  Shape shape;
  std::optional<Measurement> peer;  // the fastest of its algorithms
  double peer_share = 1;            // our work as a share of the peer's
  std::size_t peer_tried = 0;       // algorithms or plans, of which the fastest was taken
  // With a foreign kernel between launches another may be the fastest; what that kernel takes
  // alone.
  std::optional<Measurement> peer_between, compiled_between;
  double foreign_us = 0;
  std::vector<Measurement> own;  // several where each was to be shown
  // With an epilogue: ours, the peer's in one kernel, and the peer's with a kernel behind.
  std::vector<Measurement> own_epilogue;
  std::optional<Measurement> peer_fused, peer_then_kernel;
  std::optional<Measurement> rounded_up;  // ours at larger_shape
  Shape larger_shape;
  std::optional<Measurement> compiled;  // the fastest of a shortlist, beside the library's choice
  std::vector<std::string> notes;       // why a peer is missing; which outputs differ
  bool wrong = false;                   // an output differs

  const Measurement* best() const { return fastest_of(own); }
  // The peer's time for as much work over a kernel's; 0 where one of them did not run.
  double ratio(const Measurement& kernel) const { return over(peer, &kernel) * peer_share; }
  double ratio() const { return over(peer, best()) * peer_share; }
  // With a foreign kernel behind each launch of both, and the same with its own time taken away.
  double between_ratio() const { return between(peer_between, 0) * peer_share; }
  double between_ratio_less() const { return between(peer_between, foreign_us) * peer_share; }
  double between_regret() const {
    const double fastest = between(compiled_between, foreign_us);
    return fastest > 0 ? std::max(1.0, 1 / fastest) : 0;
  }
  double fused_ratio() const { return over(peer_fused, fastest_of(own_epilogue)); }
  double two_kernels_ratio() const { return over(peer_then_kernel, fastest_of(own_epilogue)); }
  // Our time over that of the rounded-up product; 0 where one of them did not run.
  double of_rounded_up() const { return of(rounded_up); }
  // Our time over that of the fastest kernel that is compiled, at least 1; 0 where none was sought.
  double regret() const { return of(compiled) > 0 ? std::max(1.0, of(compiled)) : 0; }
  // The epilogue's, in our time: 0.02 where it takes 2 % more; -1 where it was not measured.
  double overhead() const {
    const Measurement* const with = fastest_of(own_epilogue);
    return with == nullptr || best() == nullptr ? -1 : with->median_us / best()->median_us - 1;
  }

 private:
  static double over(const std::optional<Measurement>& other, const Measurement* kernel) {
    const bool ran = other && other->ran() && kernel != nullptr && kernel->ran();
    return ran ? other->median_us / kernel->median_us : 0;
  }
  double between(const std::optional<Measurement>& other, double less) const {
    const Measurement* const kernel = best();
    const bool ran =
        other && kernel != nullptr && other->between_us > less && kernel->between_us > less;
    return ran ? (other->between_us - less) / (kernel->between_us - less) : 0;
  }
  double of(const std::optional<Measurement>& other) const {
    const double ratio = over(other, best());
    return ratio > 0 ? 1 / ratio : 0;
  }
};

}  // namespace tw::bench
