// Launches that were measured to be faster than what the cost model takes. ./tw tune finds them;
// tools/tuned_table.py compiles those of bench/tuned in, and a caller may have a file of his own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/dispatch/launch_options.h"

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

// What is known about a call, best first: the request's own table, then the compiled ones, which
// are also about devices with longer names. Of an empty call nothing is known.
std::vector<const MeasuredLaunch*> measured_launches(const std::string& call,
                                                     const DispatchRequest& request);

}  // namespace tw
