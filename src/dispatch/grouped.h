// Which compiled kernel computes a product in groups.
#pragma once

#include "src/dispatch/choose_launch.h"
#include "src/grouped/instance.h"

namespace tw {

using GroupedChoice = LaunchChoice<GroupedInstance>;
using GroupedRejection = LaunchRejection<GroupedInstance>;

// The cheapest where groups have equal shares of the rows, for the host does not know them; where
// there is none, a sentence with what the nearest lack. `rejections` may be null.
Status choose(GroupedChoice& choice, const GroupedProblem& problem, const DispatchRequest& request,
              std::vector<GroupedRejection>* rejections);

}  // namespace tw
