// Problems of attention with known answers.
#pragma once

#include "src/verify/case.h"
#include "tilewright/family/attention/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> attention_instances();

extern const Trial attention_trial;

// The same problems, judged by the types of their operands alone: the bounds that every kernel
// which may be chosen keeps, whatever it rounds.
extern const Trial attention_of_any_kernel;
// Most keys in a block of kernels that multiply e4m3.
inline constexpr unsigned most_keys_of_e4m3_products = 128;

}  // namespace tw
