// What tells one instance that multiplies from another, in the words of the command line.
#pragma once

#include "src/instances/instance.h"
#include "src/instances/names.h"

namespace tw {

InstanceWords words_of(const MatmulConfig& config);
InstanceWords words_of(const Instance& instance);

}  // namespace tw
