// The value of an expression, computed by the functions of tilewright/layout.
#pragma once

#include "src/layout_tool/expression.h"
#include "src/layout_tool/value.h"

namespace tw::layout_tool {

// Throws ExpressionError: the text is malformed, or the algebra refuses one of its calls.
Value evaluate(std::string_view text);

}  // namespace tw::layout_tool
