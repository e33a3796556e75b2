// Every family that is described.
#pragma once

#include <span>

#include "src/verify/case.h"

namespace tw {

std::span<const Trial* const> all_trials();

}  // namespace tw
