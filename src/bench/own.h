// Our side of a measurement.
#pragma once

#include <string>
#include <vector>

#include "src/bench/buffers.h"
#include "src/bench/measure.h"
#include "src/dispatch/choose.h"
#include "tilewright.h"

namespace tw::bench {

struct OwnRequest {
  std::string instances;    // comma-separated parts of names, or all; empty: the library's choice
  std::vector<int> groups;  // empty: what the plan chooses
  bool by_table = true;     // false: the cost model alone
};

// Whether a name contains one of the comma-separated parts, or they say all.
bool is_wanted(const std::string& parts, const std::string& name);

// A set of buffers as a caller of the library states it.
tw_matmul_problem c_problem(const MatmulBuffers& buffers, int set);

// What is asked of the dispatcher on this device.
DispatchRequest dispatch_request();

std::string name_of(const Choice& choice);
// A launch of that choice, with a workspace of its own.
Candidate candidate_of(const Choice& choice, const MatmulBuffers& buffers);

// Where nothing narrows the choice: a plan of the C interface, run as a user would. Otherwise the
// dispatcher's choice, or all launches of the wanted instances.
Status own_candidates(std::vector<Candidate>& candidates, const OwnRequest& request,
                      const MatmulBuffers& buffers);

// Microseconds of the host in a warm tw_matmul of a tiny product, and with a plan: medians of many.
struct HostTime {
  double call_us = 0;
  double planned_us = 0;
};
Status measure_host_time(HostTime& time);

}  // namespace tw::bench
