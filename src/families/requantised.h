// FP8 products with scales of blocks and a quantised D, with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/requantised/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> requantised_instances();

extern const Trial requantised_trial;

}  // namespace tw
