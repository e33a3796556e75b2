#include "vgpu/ptx/read/constant.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <iterator>

namespace tw::vgpu::ptx {
namespace {

Operand integer(std::uint64_t value, Place place) {
  return {.kind = Operand::Integer, .value = static_cast<std::int64_t>(value), .place = place};
}

bool has_only(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";

std::uint64_t parse(std::string_view digits, unsigned base, const Token& token) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const unsigned digit = static_cast<unsigned>(hexadecimal.find(c));
    const unsigned number = digit >= 16 ? digit - 6 : digit;
    if (value > (~std::uint64_t{0} - number) / base) {
      fail_at(token.place, fmt::format("'{}' does not fit into 64 bits.", token.text));
    }
    value = value * base + number;
  }
  return value;
}

Operand number(const Token& token) {
  std::string_view text = token.text;
  const char second = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  const std::string_view behind = text.substr(text.size() > 2 ? 2 : text.size());
  if ((second == 'f' || second == 'F') && behind.size() == 8 && has_only(behind, hexadecimal)) {
    return {.kind = Operand::Float,
            .value = static_cast<std::int64_t>(parse(behind, 16, token)),
            .place = token.place};
  }
  if ((second == 'd' || second == 'D') && behind.size() == 16 && has_only(behind, hexadecimal)) {
    return {.kind = Operand::Double,
            .value = static_cast<std::int64_t>(parse(behind, 16, token)),
            .place = token.place};
  }
  if (text.find('.') != std::string_view::npos ||
      (second != 'x' && second != 'X' && text.find_first_of("eE") != std::string_view::npos)) {
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (end == copy.c_str() + copy.size()) {
      return {.kind = Operand::Double,
              .value = std::bit_cast<std::int64_t>(value),
              .place = token.place};
    }
  }
  if (text.back() == 'U') text.remove_suffix(1);
  const std::string_view digits = text.substr(text.size() > 2 ? 2 : text.size());
  if ((second == 'x' || second == 'X') && has_only(digits, hexadecimal)) {
    return integer(parse(digits, 16, token), token.place);
  }
  if ((second == 'b' || second == 'B') && has_only(digits, "01")) {
    return integer(parse(digits, 2, token), token.place);
  }
  if (second != '\0' && has_only(text, "01234567"))
    return integer(parse(text, 8, token), token.place);
  if (has_only(text, "0123456789")) return integer(parse(text, 10, token), token.place);
  fail_at(token.place, fmt::format("'{}' is no number.", token.text));
}

struct Binary {
  std::string_view mark;
  int strength;
};
constexpr Binary binaries[] = {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4},
                               {"+", 5}, {"-", 5}, {"*", 6}, {"/", 6},  {"%", 6}};

std::uint64_t shifted(std::uint64_t value, std::uint64_t by, bool left) {
  return by > 63 ? 0 : left ? value << by : value >> by;
}

std::uint64_t combine(const Token& mark, std::uint64_t left, std::uint64_t right) {
  switch (mark.text[0]) {
    case '|': return left | right;
    case '^': return left ^ right;
    case '&': return left & right;
    case '<': return shifted(left, right, true);
    case '>': return shifted(left, right, false);
    case '+': return left + right;
    case '-': return left - right;
    case '*': return left * right;
    default: break;
  }
  if (right == 0) fail_at(mark.place, "a constant is divided by zero.");
  // The least of all numbers by -1 is itself; its remainder is 0.
  const auto signed_left = static_cast<std::int64_t>(left);
  const auto signed_right = static_cast<std::int64_t>(right);
  if (signed_right == -1) return mark.is("/") ? 0 - left : 0;
  return static_cast<std::uint64_t>(mark.is("/") ? signed_left / signed_right
                                                 : signed_left % signed_right);
}

Operand expression(Cursor& cursor, int weakest);

Operand negated(Operand value) {
  if (value.kind == Operand::Float) value.value ^= std::int64_t{1} << 31;
  if (value.kind == Operand::Double) {
    value.value = std::bit_cast<std::int64_t>(-std::bit_cast<double>(value.value));
  }
  if (value.kind == Operand::Integer) {
    value.value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(value.value));
  }
  return value;
}

Operand unary(Cursor& cursor) {
  const Nesting nesting(cursor);
  const Token& token = cursor.peek();
  if (token.kind == Token::Number) return number(cursor.take());
  if (cursor.accept("-")) return negated(unary(cursor));
  if (cursor.accept("+")) return unary(cursor);
  if (cursor.accept("~") || cursor.accept("!")) {
    Operand value = unary(cursor);
    if (value.kind != Operand::Integer) fail_expecting(token, "an integer behind '~' or '!'");
    value.value = token.is("~") ? ~value.value : std::int64_t{value.value == 0};
    return value;
  }
  if (cursor.accept("(")) {
    const Operand value = expression(cursor, 1);
    cursor.expect(")", "')' behind a constant");
    return value;
  }
  fail_expecting(token, "a number");
}

Operand expression(Cursor& cursor, int weakest) {
  Operand left = unary(cursor);
  for (;;) {
    const Token mark = cursor.peek();
    int strength = 0;
    for (const Binary& binary : binaries) {
      if (mark.is(binary.mark)) strength = binary.strength;
    }
    if (strength < weakest || strength == 0 || left.kind != Operand::Integer) return left;
    cursor.take();
    const Operand right = expression(cursor, strength + 1);
    if (right.kind != Operand::Integer) fail_at(right.place, "expected an integer here.");
    left.value = static_cast<std::int64_t>(combine(mark, static_cast<std::uint64_t>(left.value),
                                                   static_cast<std::uint64_t>(right.value)));
  }
}

}  // namespace

bool begins_constant(const Cursor& cursor) {
  std::size_t ahead = 0;
  while (cursor.peek(ahead).is("-") || cursor.peek(ahead).is("~") || cursor.peek(ahead).is("!") ||
         cursor.peek(ahead).is("(")) {
    ++ahead;
  }
  return cursor.peek(ahead).kind == Token::Number;
}

Operand read_constant(Cursor& cursor) { return expression(cursor, 1); }

std::uint64_t read_count(Cursor& cursor, std::string_view wanted) {
  const Token& token = cursor.peek();
  if (!begins_constant(cursor)) fail_expecting(token, wanted);
  const Operand value = read_constant(cursor);
  if (value.kind != Operand::Integer || value.value < 0) fail_expecting(token, wanted);
  return static_cast<std::uint64_t>(value.value);
}

}  // namespace tw::vgpu::ptx
