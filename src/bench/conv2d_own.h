// Our side of a measured convolution.
#pragma once

#include <vector>

#include "src/bench/conv2d_buffers.h"
#include "src/bench/own.h"
#include "src/dispatch/conv2d.h"

namespace tw::bench {

// A launch of that choice, with a workspace of its own.
Candidate candidate_of(const Conv2dChoice& choice, const Conv2dBuffers& buffers,
                       const Conv2dEpilogue& epilogue);

// As own_candidates: a plan of the C interface, or all launches of the wanted instances or of a
// shortlist.
Status own_convolutions(std::vector<Candidate>& candidates, const OwnRequest& request,
                        const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue);

}  // namespace tw::bench
