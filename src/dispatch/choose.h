// Which compiled kernel computes a product, and in which order: candidates, a cost model, and
// tables of measured exceptions.
#pragma once

#include "src/dispatch/choose_launch.h"
#include "src/instances/instance.h"

namespace tw {

std::span<const Instance> matmul_instances();

using Choice = LaunchChoice;
using Rejection = LaunchRejection;

// Every launch that computes the problem, none twice, with its expected cost.
std::vector<Choice> candidates(const Checked& problem, const DispatchRequest& request,
                               std::vector<Rejection>* rejections);

// A table's candidate, or else the cheapest; where there is none, a sentence with what the
// nearest ones lack. Addresses matter only through their alignment. `rejections` may be null.
Status choose(Choice& choice, const Checked& problem, const DispatchRequest& request,
              std::vector<Rejection>* rejections);

}  // namespace tw
