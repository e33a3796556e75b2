// A convolution and its epilogue as a graph of cuDNN's.
#pragma once

#include "src/bench/peers/cudnn_plans.h"
#include "tilewright/family/conv2d/family.h"

namespace tw::bench::cudnn {

// Which memory a tensor is; above them are the numbers of what is never stored.
enum Id : std::int64_t { ImageId = 1, FilterId, BiasId, ResidualId, OutputId, FirstVirtualId };

// A convolution over two sides, with a bias, a residual and a relu where the epilogue has them.
Descriptor graph_of(const Target& target, const tw_conv2d_problem& what);

}  // namespace tw::bench::cudnn
