// Our side of a measured convolution.
#pragma once

#include <vector>

#include "src/bench/conv2d_buffers.h"
#include "src/bench/own.h"

namespace tw::bench {

// As own_candidates: a plan of the C interface, or all launches of the wanted instances or of a
// shortlist.
Status own_convolutions(std::vector<Candidate>& candidates, const OwnRequest& request,
                        const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue);

}  // namespace tw::bench
