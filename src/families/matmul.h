// Products of matrices, with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/matmul/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> matmul_instances();

extern const Trial matmul_trial;

}  // namespace tw
