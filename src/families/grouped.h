// Products in groups, with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/grouped/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> grouped_instances();

extern const Trial grouped_trial;

}  // namespace tw
