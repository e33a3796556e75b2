// Our side: which launches are measured.
#pragma once

#include <string>
#include <vector>

#include "src/bench/harness/buffers.h"
#include "src/bench/harness/measure.h"
#include "src/dispatch/choose_launch.h"
#include "src/dispatch/shortlist.h"

namespace tw::bench {

// The fastest compiled launch is sought among so many.
inline constexpr int shortlist_length = 12;

struct OwnRequest {
  std::string instances;    // parts of their names, comma-separated, or "all"; empty: see below
  std::string instance;     // the only one; empty: any
  std::vector<int> groups;  // tiles per raster group; empty: those of the plan
  int candidates = 0;       // above 0: a shortlist of about so many, all of them shown
  bool by_table = true;     // false: the cost model alone

  bool asks_the_library() const { return names_none() && by_table; }
  bool names_none() const { return instances.empty() && instance.empty() && candidates == 0; }
};

// What is asked of the dispatcher on this device.
DispatchRequest dispatch_request();

// Every launch of a family's kernels that computes a problem, none twice; with its expected cost
// where the family has a cost model.
std::vector<Choice> launches_of(const Checked& problem, const DispatchRequest& request);
// The dispatcher's choice; refused where there is none.
Status choose_for(Choice& choice, const Checked& problem, const DispatchRequest& request);

// Each also along both sides with raster groups of so many tiles.
std::vector<Choice> with_groups(const std::vector<Choice>& launches,
                                const std::vector<int>& groups);

// "bf16_64x64 /2 m4"
std::string name_of(const Choice& choice);

// A launch of that choice, with a workspace of its own.
Candidate candidate_of(const Choice& choice, const Buffers& buffers, bool with_epilogue = false);

// Where nothing narrows the choice: a plan of the C interface, run as a user would. Otherwise the
// dispatcher's choice, or all launches of the wanted instances or of a shortlist.
Status own_candidates(std::vector<Candidate>& candidates, const OwnRequest& request,
                      const Buffers& buffers, bool with_epilogue = false);

// Microseconds of the host in a warm tw_matmul of a tiny product, and with a plan: medians of many.
struct HostTime {
  double call_us = 0;
  double planned_us = 0;
};
Status measure_host_time(HostTime& time);

}  // namespace tw::bench
