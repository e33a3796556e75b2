// Which compiled kernel attends.
#pragma once

#include "src/dispatch/choose_launch.h"
#include "src/instances/instance.h"

namespace tw {

std::span<const Instance> attention_instances();

// The one that multiplies least beside what is asked for; where there is none, a sentence with what
// the nearest lacks. `rejections` may be null.
Status choose_attention(LaunchChoice<Instance>& choice, const Checked& problem,
                        const DispatchRequest& request,
                        std::vector<LaunchRejection<Instance>>* rejections);

}  // namespace tw
