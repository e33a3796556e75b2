// Plans of cuDNN's that compute a graph.
#pragma once

#include <optional>

#include "src/bench/peers/cudnn_library.h"

namespace tw::bench::cudnn {

// For which device plans are made: the handle's, or one that is described and need not be there.
struct Target {
  const Functions* functions = nullptr;
  Handle handle = nullptr;
  std::optional<Descriptor> properties;

  std::string last_error() const;
};

struct Plan {
  std::string name;  // the engine's number and its knobs
  Descriptor plan;
  std::int64_t workspace_bytes = 0;
};

// At most `most`, none twice, in the order in which the heuristics (A, then B, then the fallback)
// name them; none is begun later than that many seconds, but the first.
std::vector<Plan> plans_of(const Target& target, const Descriptor& graph, int most, double seconds);

}  // namespace tw::bench::cudnn
