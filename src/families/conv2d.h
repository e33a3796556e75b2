// Convolutions with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/conv2d/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> conv2d_instances();

extern const Trial conv2d_trial;

// A case of an instance with the numbers of a problem; lists say what its axes do.
Case conv2d_case(const Instance& instance, const tw_conv2d_problem& problem);

}  // namespace tw
