// Our side of a measured convolution.
#pragma once

#include <string>
#include <vector>

#include "src/bench/conv2d_buffers.h"
#include "src/bench/measure.h"

namespace tw::bench {

// The dispatcher's choice; or, where `instances` says something (comma-separated parts of names, or
// all), every launch of these.
Status own_convolutions(std::vector<Candidate>& candidates, const std::string& instances,
                        const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue);

}  // namespace tw::bench
