// The language of ./tw layout: calls of the algebra's functions on layouts, tilers and numbers.
//
//   composition((6,2):(8,2), (4,3):(3,1))        a o b says the same
//   zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)
//   Sw<3,3,3> o (64,64):(64,1)                   compose(swizzle(3,3,3), ...) says the same
//
// Layouts are written as tilewright/layout/text.h writes them; a shape alone is compact, first mode
// fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/layout/layout.h"

namespace tw::layout_tool {

// A sentence about one place of the text.
struct ExpressionError : Refusal {
  ExpressionError(std::size_t where, const std::string& sentence)
      : Refusal(sentence), position(where) {}
  std::size_t position;
};

// The sentence, the text, and a caret under the offending character.
std::string with_caret(std::string_view text, const ExpressionError& error);

struct Expression {
  enum class Kind { Number, Layout, Tiler, Call };

  Kind kind;
  std::size_t position;
  std::int64_t number = 0;
  Layout layout{};
  std::string function;
  std::vector<Expression> operands;  // the arguments of a call, the modes of a tiler
};

Expression parse_expression(std::string_view text);

}  // namespace tw::layout_tool
