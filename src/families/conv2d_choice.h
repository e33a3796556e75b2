// Which compiled kernel computes a convolution: candidates, and the cost of the matmul that it is.
#pragma once

#include "src/dispatch/choose_launch.h"
#include "src/families/conv2d_words.h"
#include "src/instances/instance.h"

namespace tw {

std::span<const Instance> conv2d_instances();

// Every launch that computes the problem, none twice, with its expected cost. `rejections` may be
// null.
std::vector<LaunchChoice> conv2d_candidates(const Checked& problem, const DispatchRequest& request,
                                            std::vector<LaunchRejection>* rejections);

// A table's candidate, or else the cheapest; where there is none, a sentence with what the nearest
// lack. `rejections` may be null.
Status choose_conv2d(LaunchChoice& choice, const Checked& problem, const DispatchRequest& request,
                     std::vector<LaunchRejection>* rejections);

}  // namespace tw
