// Everything that the choice of a convolution's kernel depends on.
#pragma once

#include <string>

#include "src/library/device.h"
#include "src/library/key_words.h"
#include "tilewright.h"
#include "tilewright/host/conv2d_problem.h"

namespace tw::library {

class Conv2dKey : public KeyWords<51> {
 public:
  // `instance`: the number of the one that the options name, from 1; or 0.
  Conv2dKey(const Conv2dProblem& problem, const tw_conv2d_options& options, int instance,
            const Place& place);
  // Is equal to no other.
  Conv2dKey() = default;

  // A sentence about the first word in which this differs from a plan's key; there is one.
  std::string difference(const Conv2dKey& planned) const;
};

}  // namespace tw::library
