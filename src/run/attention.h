// Problems of attention with known answers.
#pragma once

#include "src/run/case.h"
#include "tilewright/family/attention/family.h"

namespace tw {

// By src/family/table.cpp.in.
std::span<const Instance> attention_instances();

extern const Trial attention_trial;

}  // namespace tw
