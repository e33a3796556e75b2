// Which compiled kernel computes a convolution: candidates, and the cost of the matmul that it is.
#pragma once

#include "src/conv2d/instance.h"
#include "src/dispatch/call.h"
#include "src/dispatch/choose_launch.h"

namespace tw {

using Conv2dChoice = LaunchChoice<Conv2dInstance>;
using Conv2dRejection = LaunchRejection<Conv2dInstance>;

// Every launch that computes the problem, none twice, with its expected cost.
std::vector<Conv2dChoice> candidates(const Conv2dProblem& problem, const DispatchRequest& request,
                                     std::vector<Conv2dRejection>* rejections);

// A table's candidate, or else the cheapest; where there is none, a sentence with what the nearest
// lack. `rejections` may be null.
Status choose(Conv2dChoice& choice, const Conv2dProblem& problem, const DispatchRequest& request,
              std::vector<Conv2dRejection>* rejections);

// The cheapest order for one kernel that supports the problem, on so many SMs.
MatmulOrder order_of(const Conv2dInstance& instance, const Conv2dProblem& problem, unsigned sms);

}  // namespace tw
