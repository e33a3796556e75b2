// Stand-ins for the CUDA device and for the kernels: what the library does around a launch shows
// without a GPU.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/instances/instance.h"

namespace tw::tests {

// What happened, in order.
struct Event {
  enum Kind { Supports, Clear, Launch, Simulate } kind;
  const void* memory;  // Clear and Launch: the workspace
  std::size_t bytes;
  void* stream;
  const Instance* instance = nullptr;
  MatmulProblem problem = {};
  LaunchOrder order = {};
  const void* counters = nullptr;  // Launch alone has some
};

struct StandIn {
  std::vector<Event> events;
  int device = 0;              // below 0: there is none
  const char* name = nullptr;  // the device's
  bool launch_fails = false;
  bool wants_alignment = false;  // kernels take no A whose rows begin anywhere
  bool records = true;
  bool simulates = false;  // the virtual GPU has the first kernel, and no other
  void* counters_of_capture = nullptr;  // null: nothing is captured

  int count(Event::Kind kind) const {
    int found = 0;
    for (const Event& event : events) found += event.kind == kind;
    return found;
  }
};
StandIn& stand_in();
Status record(const Event& event);

constexpr std::size_t split_workspace_bytes = 100'000;

}  // namespace tw::tests
