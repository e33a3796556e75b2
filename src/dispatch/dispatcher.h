// How the launches of a family's problems are found, and which of them is taken.
#pragma once

#include "src/dispatch/choose_launch.h"
#include "src/instances/instance.h"

namespace tw {

struct Dispatcher {
  // Every launch that computes the problem, none twice, with its expected cost. `rejections` may be
  // null, here and below.
  std::vector<LaunchChoice> (*candidates)(const Checked& problem, const DispatchRequest& request,
                                          std::vector<LaunchRejection>* rejections);
  Status (*choose)(LaunchChoice& choice, const Checked& problem, const DispatchRequest& request,
                   std::vector<LaunchRejection>* rejections);
};

}  // namespace tw
