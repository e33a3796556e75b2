// Our side of a measurement.
#pragma once

#include <string>
#include <vector>

#include "src/bench/buffers.h"
#include "src/bench/measure.h"
#include "src/dispatch/choose.h"
#include "src/dispatch/shortlist.h"
#include "tilewright.h"

namespace tw::bench {

// Of the launches among which the fastest compiled one is sought.
inline constexpr int shortlist_length = 12;

struct OwnRequest {
  std::string instances;    // comma-separated parts of names, or all; empty: the library's choice
  std::vector<int> groups;  // empty: what the plan chooses
  int candidates = 0;       // above 0: a shortlist of about so many, all of them shown
  bool by_table = true;     // false: the cost model alone

  bool asks_the_library() const { return instances.empty() && candidates == 0 && by_table; }
  // Of all launches of a family that compute something, those that are meant.
  template <class Choice>
  std::vector<Choice> wanted(const std::vector<Choice>& all) const;
};

// Whether a name contains one of the comma-separated parts, or they say all.
bool is_wanted(const std::string& parts, const std::string& name);

template <class Choice>
std::vector<Choice> OwnRequest::wanted(const std::vector<Choice>& all) const {
  std::vector<Choice> some;
  for (const Choice& one : all) {
    if (instances.empty() || is_wanted(instances, one.instance->name)) some.push_back(one);
  }
  return candidates > 0 ? shortlist(some, static_cast<std::size_t>(candidates)) : some;
}

// A set of buffers as a caller of the library states it.
tw_matmul_problem c_problem(const MatmulBuffers& buffers, int set);

// What is asked of the dispatcher on this device.
DispatchRequest dispatch_request();

template <class Choice>
std::string name_of(const Choice& choice) {
  std::string name = choice.instance->name;
  const MatmulOrder& order = choice.order;
  if (order.split_k > 1) name += " /" + std::to_string(order.split_k);
  if (order.group != 0) {
    name += (order.raster == Raster::AlongM ? " m" : " n") + std::to_string(order.group);
  }
  return name;
}

// A launch of that choice, with a workspace of its own.
Candidate candidate_of(const Choice& choice, const MatmulBuffers& buffers);

// Where nothing narrows the choice: a plan of the C interface, run as a user would. Otherwise the
// dispatcher's choice, or all launches of the wanted instances or of a shortlist.
Status own_candidates(std::vector<Candidate>& candidates, const OwnRequest& request,
                      const MatmulBuffers& buffers);

// Microseconds of the host in a warm tw_matmul of a tiny product, and with a plan: medians of many.
struct HostTime {
  double call_us = 0;
  double planned_us = 0;
};
Status measure_host_time(HostTime& time);

}  // namespace tw::bench
