// What was measured of convolutions, what it says together, and both as files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/bench/conv2d_case.h"
#include "src/bench/report.h"

namespace tw::bench {

// Whose kernel, and what it computed: the convolution alone, or with an epilogue. Compiled: the
// fastest of a shortlist of ours, beside the library's choice.
enum class Conv2dRole { Own, Peer, OwnEpilogue, PeerFused, PeerThenKernel, Compiled };
const char* name_of(Conv2dRole role);

struct Conv2dRow {
  Conv2dRole role;
  Measurement kernel;
};

struct Conv2dResult {
  Conv2dCase shape;
  std::vector<Conv2dRow> rows;
  std::vector<std::string> notes;  // why a peer is missing; which outputs differ
  bool wrong = false;              // an output differs

  // The fastest of a role; null where none ran.
  const Measurement* fastest(Conv2dRole role) const;
  // The time of `other` over that of `own`; 0 where one of them did not run.
  double ratio(Conv2dRole other, Conv2dRole own) const;
  // Our time over that of the fastest kernel that is compiled, at least 1; 0 where none was sought.
  double regret() const;
  // Of the epilogue, in our time: 0.02 where it takes 2 % more; -1 where it was not measured.
  double overhead() const;
};

// Means are geometric.
struct Conv2dSummary {
  static constexpr double lowest_wanted_ratio = 0.85;
  // Overheads count where the convolution takes so long, and where all bytes, read and written
  // once at the speed of a copy, take so little of that.
  static constexpr double least_microseconds = 20;
  static constexpr double most_share_of_bytes = 0.6;

  double copy_bytes_per_second = 0;
  GeometricMean beside_peer;
  ShapeValue lowest;
  std::vector<ShapeValue> below;
  GeometricMean beside_fused, beside_two_kernels;
  std::vector<ShapeValue> behind_two_kernels;
  GeometricMean relative_time;  // with the epilogue over without, where overheads count
  ShapeValue highest_overhead;
  GeometricMean regrets;
  ShapeValue highest_regret;
  std::vector<std::string> failed;  // none of our kernels ran, or outputs differ
};

Conv2dSummary summarise(const std::vector<Conv2dResult>& results, double copy_bytes_per_second);
// Lines for a terminal or, as they are, for a page in Markdown.
std::string text_of(const Conv2dSummary& summary);

nlohmann::json json_of(const RunFacts& facts, const std::vector<Conv2dResult>& results,
                       const Conv2dSummary& summary);
std::string markdown_of(const RunFacts& facts, const std::vector<Conv2dResult>& results,
                        const Conv2dSummary& summary);

}  // namespace tw::bench
