// Characters to tokens, with the position of each for the caret.
#pragma once

#include "src/layout_tool/expression.h"

namespace tw::layout_tool {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // The position of the next character that is no space, or of the end.
  std::size_t position();
  bool at_end() { return position() == text_.size(); }
  // The next character that is no space; 0 at the end.
  char next() { return at_end() ? '\0' : text_[position_]; }
  bool accept(char expected);
  // Refuses unless the next character is `expected`; `wanted` says what could stand here.
  void expect(char expected, const std::string& wanted);
  bool is_number();
  std::int64_t number(const char* wanted);
  bool is_name();
  std::string name();

  [[noreturn]] void fail_expecting(const std::string& wanted);

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace tw::layout_tool
