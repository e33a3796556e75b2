// Which compiled kernel computes a problem, and in which order: candidates, a cost model, and
// tables of measured exceptions.
#pragma once

#include "src/dispatch/choose_launch.h"
#include "src/matmul/instance.h"

namespace tw {

using Choice = LaunchChoice<MatmulInstance>;
using Rejection = LaunchRejection<MatmulInstance>;

// By what tables know it; empty: not at all.
std::string call_of(const MatmulProblem& problem);

// Every launch that computes the problem, none twice, with its expected cost.
std::vector<Choice> candidates(const MatmulProblem& problem, const DispatchRequest& request,
                               std::vector<Rejection>* rejections);

// A table's candidate, or else the cheapest; where there is none, a sentence with what the
// nearest ones lack. Addresses matter only through their alignment. `rejections` may be null.
Status choose(Choice& choice, const MatmulProblem& problem, const DispatchRequest& request,
              std::vector<Rejection>* rejections);

}  // namespace tw
