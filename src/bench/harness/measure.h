// Interleaved measurements: every candidate runs in every round, on rotating buffers beyond the L2.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "src/bench/harness/result.h"
#include "tilewright/base/status.h"

namespace tw::bench {

struct Candidate {
  std::string name;
  // Enqueues one product on buffer set `set`. Called during stream capture.
  std::function<Status(int set, void* stream)> launch;
};

// A slice of one candidate must outlast the card's power control, or a kernel is paid for the watts
// that its neighbour saved; for a first choice among many a shorter one will do.
inline constexpr double final_slice_milliseconds = 20;
inline constexpr double choosing_slice_milliseconds = 2;
// Joules are counted in slices of at least so long.
inline constexpr double counting_slice_milliseconds = 400;
// Short slices are meant for the choice among many, too.
constexpr double choosing_slice(double slice_milliseconds) {
  return std::min(slice_milliseconds, choosing_slice_milliseconds);
}

// The situations to measure: launches that follow each other, and launches that a foreign kernel
// follows.
struct Columns {
  bool alone = true;
  bool between = false;
};

// Each round runs every candidate's slice twice, timing the second, in an order that changes from
// round to round (and with the seed). The device's clock and power are read while the second runs,
// and its joules are counted in long slices.
std::vector<Measurement> interleave(const std::vector<Candidate>& candidates, int sets, int rounds,
                                    double slice_milliseconds, unsigned seed = 1,
                                    Columns columns = {});

// The fastest of the candidates that run, found in a pass of its own, alone or with a foreign
// kernel between launches: the final rounds are then no lottery. Of many the slow ones are passed
// over after one short round. Where none runs, the first stands for all and says why; empty where
// there are none.
std::vector<Candidate> fastest(const std::vector<Candidate>& candidates, int sets,
                               double slice_milliseconds, bool between = false);

// The time of a foreign kernel in a graph of nothing else.
double foreign_microseconds(int rounds, double slice_milliseconds);

}  // namespace tw::bench
