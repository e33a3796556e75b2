// Matrices to quantise to the block-scaled formats, with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/block_quantise/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> block_quantise_instances();

extern const Trial block_quantise_trial;

}  // namespace tw
