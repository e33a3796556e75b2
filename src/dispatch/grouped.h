// Which compiled kernel computes a product in groups.
#pragma once

#include "src/dispatch/choose_launch.h"
#include "src/family/instance.h"

namespace tw {

std::span<const Instance> grouped_instances();

// The cheapest where groups have equal shares of the rows, for the host does not know them; where
// there is none, a sentence with what the nearest lack. `rejections` may be null.
Status choose_grouped(LaunchChoice<Instance>& choice, const Checked& problem,
                      const DispatchRequest& request,
                      std::vector<LaunchRejection<Instance>>* rejections);

}  // namespace tw
