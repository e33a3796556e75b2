// Launches that were measured to be faster than what the cost model takes. ./tw tune finds them;
// tools/tuned_table.py compiles those of bench/tuned in, and a caller may have a file of his own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/dispatch/launch_options.h"
#include "tilewright/launch/checked.h"

namespace tw {

struct MeasuredLaunch {
  std::string call;  // what call_of says
  std::string instance;
  int split_k = 1;
  int group = 0;
  Raster raster = Raster::AlongM;
  double gain = 0;  // the time without the table over this launch's, the smaller of two passes
};

struct MeasuredTable {
  std::string version;  // Tilewright's
  std::string device;   // its name
  std::string driver;
  std::string date;
  std::vector<MeasuredLaunch> launches;
};

std::span<const MeasuredTable> compiled_tables();

// Before a call in the log; ./tw tune finds it by that.
inline constexpr const char* call_prefix = "tw: call: ";

// What a call computes, in words that are the same in files, in the library's log and on the
// command line of ./tw tune. "matmul bf16 64x4096x1024": m, n and k of a product of K-major
// operands of one type. Biases, scales and activations may follow. Empty where tables have no words
// for it: batches, other layouts, epilogues that move as many bytes as D.
std::string call_of(const char* family, const MatmulProblem& problem);
// The same words for a described product; empty where ./tw tune does not measure the family.
std::string call_of(const Checked& problem);

// What is known about a call, best first: the request's own table, then the compiled ones, which
// are also about devices with longer names. Of an empty call nothing is known.
std::vector<const MeasuredLaunch*> measured_launches(const std::string& call,
                                                     const DispatchRequest& request);

}  // namespace tw
