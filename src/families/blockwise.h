// FP8 products with scales of blocks, with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/blockwise/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> blockwise_instances();

extern const Trial blockwise_trial;

}  // namespace tw
