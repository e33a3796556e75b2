// The forms of shapes, of all families that have some.
#pragma once

#include <span>

#include "src/bench/case.h"
#include "tilewright/family/matmul/problem.h"

namespace tw::bench {

std::span<const ShapeForm* const> all_forms();

extern const ShapeForm matmul_form;
// Of three numbers; sets also what the shape is.
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
