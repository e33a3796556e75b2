// How families write a shape of theirs in one word, "4096x4096x4096", and read it from a suite.
#pragma once

#include <span>

#include "src/bench/harness/case.h"
#include "tilewright/family/matmul/problem.h"

namespace tw::bench {

std::span<const ShapeForm* const> all_forms();

extern const ShapeForm matmul_form;
// The product that three numbers state; also names the case by its shape.
tw_matmul_problem plain_product(MeasuredCase& made, ElementType type, const CaseRequest& request);
// family blockwise: begin
extern const ShapeForm blockwise_form;
// family blockwise: end
// family conv2d: begin
extern const ShapeForm conv2d_form;
// family conv2d: end
// family grouped: begin
extern const ShapeForm grouped_form;
// family grouped: end
// family quantise: begin
extern const ShapeForm quantise_form;
// family quantise: end

}  // namespace tw::bench
