// What the measurements of a suite say together.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "src/bench/harness/result.h"

namespace tw::bench {

inline constexpr double lowest_wanted_ratio = 0.93;

class GeometricMean {
 public:
  void add(double value) {
    sum_ += std::log(value);
    ++count_;
  }
  std::size_t count() const { return count_; }
  double value() const { return count_ == 0 ? 0 : std::exp(sum_ / double(count_)); }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

struct ShapeValue {
  std::string shape;
  double value = 0;
};

// Ratios are the peer's time over ours; where there was no peer, there are none. Means are
// geometric.
struct Summary {
  std::size_t shapes = 0;    // measured
  std::size_t compared = 0;  // measured beside a peer
  double mean_ratio = 0;
  ShapeValue lowest;
  std::size_t decode_compared = 0;
  double decode_mean_ratio = 0;       // m <= 64
  std::vector<ShapeValue> below;      // lowest_wanted_ratio, lowest first
  double copy_bytes_per_second = 0;   // a copy on the device, reads and writes; 0: not measured
  std::vector<ShapeValue> bandwidth;  // share of it that each decode product reaches
  double mean_bandwidth = 0;
  std::size_t rounded_up_compared = 0;
  double mean_of_rounded_up = 0;  // time over that of the rounded-up product
  // With an epilogue, beside the peer's in one kernel and the peer's with a kernel behind.
  GeometricMean beside_fused, beside_two_kernels;
  std::size_t behind_two_kernels = 0;
  // With the epilogue over without, where that counts: where the product takes so long, and where
  // all bytes, read and written once at the speed of a copy, take so little of that.
  static constexpr double least_microseconds = 20;
  static constexpr double most_share_of_bytes = 0.6;
  GeometricMean relative_time;
  ShapeValue highest_overhead;
  GeometricMean regrets;
  ShapeValue highest_regret;
  GeometricMean between_regrets;   // the same with a foreign kernel between launches
  double foreign_us = 0;           // what that takes alone; 0: not measured
  std::vector<std::size_t> tried;  // how many of its algorithms or plans the peer is the fastest of
  std::vector<std::string> left_out;  // shapes for which no time was left
  std::vector<ShapeValue> failed;     // none of our kernels ran, or outputs differ
};

Summary summarise(const std::vector<ShapeResult>& results, double copy_bytes_per_second);

// Lines for a terminal or, as they are, for a page in Markdown.
std::string text_of(const Summary& summary);

}  // namespace tw::bench
