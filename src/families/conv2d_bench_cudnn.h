// A convolution and its epilogue as a graph of cuDNN's, and the plans that compute it.
#pragma once

#include <optional>

#include "src/bench/peers/cudnn_library.h"
#include "tilewright/family/conv2d/family.h"

namespace tw::bench::cudnn {

// For which device plans are made: the handle's, or one that is described and need not be there.
struct Target {
  const Functions* functions = nullptr;
  Handle handle = nullptr;
  std::optional<Descriptor> properties;

  std::string last_error() const;
};

// Which memory a tensor is; above them are the numbers of what is never stored.
enum Id : std::int64_t { ImageId = 1, FilterId, BiasId, ResidualId, OutputId, FirstVirtualId };

// A convolution over two sides, with a bias, a residual and a relu where the epilogue has them.
Descriptor graph_of(const Target& target, const tw_conv2d_problem& what);

struct Plan {
  std::string name;  // the engine's number and its knobs
  Descriptor plan;
  std::int64_t workspace_bytes = 0;
};

// At most `most`, none twice, in the order in which the heuristics (A, then B, then the fallback)
// name them; none is begun later than that many seconds, but the first.
std::vector<Plan> plans_of(const Target& target, const Descriptor& graph, int most, double seconds);

}  // namespace tw::bench::cudnn
