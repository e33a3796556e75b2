// Products of matrices, with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/matmul/family.h"

namespace tw {

// src/instances/table.cpp.in makes both: those that the library has, and those that only show
// something.
std::span<const Instance> matmul_instances();
std::span<const Instance> matmul_shown_instances();

extern const Trial matmul_trial;

}  // namespace tw
