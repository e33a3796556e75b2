// Matrices to quantise, with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/quantise/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> quantise_instances();

extern const Trial quantise_trial;

}  // namespace tw
