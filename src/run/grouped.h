// Products in groups, with known answers.
#pragma once

#include "src/run/case.h"
#include "tilewright/family/grouped/family.h"

namespace tw {

// By src/table.cpp.in.
std::span<const Instance> grouped_instances();

extern const Trial grouped_trial;

}  // namespace tw
