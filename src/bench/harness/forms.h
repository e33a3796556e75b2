// How families write a shape of theirs in one word, "4096x4096x4096", and read it from a suite.
#pragma once

#include <span>

#include "src/bench/harness/case.h"
#include "tilewright/types.h"

namespace tw::bench {

// A family that is measured defines its form, NAME_form, in src/families/NAME_bench.cpp.
std::span<const ShapeForm* const> all_forms();

extern const ShapeForm matmul_form;
// The product that three numbers state; also names the case by its shape.
tw_matmul_problem plain_product(MeasuredCase& made, ElementType type, const CaseRequest& request);

}  // namespace tw::bench
