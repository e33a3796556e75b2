// Matrices of block-scaled elements to dequantise, with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/block_dequantise/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> block_dequantise_instances();

extern const Trial block_dequantise_trial;

}  // namespace tw
