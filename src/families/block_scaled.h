// Products of elements with block scales, with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/block_scaled/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> block_scaled_instances();

extern const Trial block_scaled_trial;

}  // namespace tw
