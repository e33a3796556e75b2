#include "src/layout_tool/reader.h"

#include <fmt/format.h>

#include <cctype>

namespace tw::layout_tool {

namespace {

// Larger than the memory of any machine, and small enough that sums of a few products fit.
constexpr std::int64_t largest_number = std::int64_t{1} << 47;

// No other: pictures show the expression, and XML has no other control characters.
bool is_space(char character) {
  return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}
bool is_digit(char character) { return character >= '0' && character <= '9'; }
bool starts_name(char character) {
  return std::isalpha(static_cast<unsigned char>(character)) != 0;
}
// The bytes of a character after its first, in UTF-8.
bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string with_caret(std::string_view text, const ExpressionError& error) {
  std::string shown;
  std::string caret;
  for (std::size_t i = 0; i < text.size(); ++i) {
    shown += is_space(text[i]) ? ' ' : text[i];
    if (i < error.position && !continues_character(text[i])) caret += ' ';
  }
  return fmt::format("{}\n  {}\n  {}^", error.what(), shown, caret);
}

std::size_t Reader::position() {
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  return position_;
}

bool Reader::accept(char expected) {
  if (at_end() || text_[position_] != expected) return false;
  ++position_;
  return true;
}

void Reader::expect(char expected, const std::string& wanted) {
  if (!accept(expected)) fail_expecting(wanted);
}

void Reader::fail_expecting(const std::string& wanted) {
  if (at_end()) throw ExpressionError(position_, wanted + ", but the expression ends.");
  std::size_t end = position_ + 1;
  while (end < text_.size() && continues_character(text_[end])) ++end;
  throw ExpressionError(
      position_, fmt::format("{}, not '{}'.", wanted, text_.substr(position_, end - position_)));
}

bool Reader::is_number() { return next() == '-' || is_digit(next()); }

std::int64_t Reader::number(const char* wanted) {
  if (!is_number()) fail_expecting(wanted);
  const std::size_t first = position_;
  const bool is_negative = accept('-');
  if (position_ == text_.size() || !is_digit(text_[position_])) fail_expecting(wanted);
  std::int64_t value = 0;
  for (; position_ < text_.size() && is_digit(text_[position_]); ++position_) {
    value = value * 10 + (text_[position_] - '0');
    if (value > largest_number) {
      throw ExpressionError(
          first, fmt::format("A number must not exceed 2^47 = {} in magnitude.", largest_number));
    }
  }
  return is_negative ? -value : value;
}

bool Reader::is_name() { return starts_name(next()); }

std::string Reader::name() {
  std::string result;
  if (!is_name()) return result;
  while (position_ < text_.size() &&
         (starts_name(text_[position_]) || is_digit(text_[position_]) || text_[position_] == '_')) {
    result += text_[position_++];
  }
  return result;
}

}  // namespace tw::layout_tool
