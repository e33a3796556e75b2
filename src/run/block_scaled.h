// Products of elements with block scales, with known answers.
#pragma once

#include "src/run/case.h"
#include "tilewright/family/block_scaled/family.h"

namespace tw {

// By src/table.cpp.in.
std::span<const Instance> block_scaled_instances();

extern const Trial block_scaled_trial;

}  // namespace tw
