#include "vgpu/ptx/read/operand.h"

#include "vgpu/ptx/read/constant.h"

namespace tw::vgpu::ptx {
namespace {

// a, b, c up to the mark that closes them.
std::vector<Operand> read_list(Cursor& cursor, std::string_view close, bool is_call) {
  const Nesting nesting(cursor);
  std::vector<Operand> parts;
  if (cursor.accept(close)) return parts;
  for (;;) {
    parts.push_back(read_operand(cursor, is_call));
    if (cursor.accept(close)) return parts;
    if (!cursor.accept(",")) {
      fail_expecting(cursor.peek(), std::string("',' or '") + std::string(close) + "'");
    }
  }
}

// Bytes behind a name: +4, +-8, -4.
std::int64_t read_offset(Cursor& cursor) {
  std::int64_t offset = 0;
  while (cursor.peek().is("+") || cursor.peek().is("-")) {
    const Token& sign = cursor.peek();
    if (sign.is("+")) cursor.take();
    if (!begins_constant(cursor)) fail_expecting(cursor.peek(), "a number of bytes");
    const Operand value = read_constant(cursor);
    if (value.kind != Operand::Integer) fail_at(sign.place, "expected a number of bytes here.");
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) +
                                       static_cast<std::uint64_t>(value.value));
  }
  return offset;
}

Operand read_address(Cursor& cursor) {
  Operand address{.kind = Operand::Address, .place = cursor.peek().place};
  cursor.expect("[", "'['");
  address.parts = read_list(cursor, "]", false);
  if (address.parts.empty()) fail_at(address.place, "expected an address between '[' and ']'.");
  address.value = address.parts[0].value;
  if (address.parts[0].kind == Operand::Integer) return address;
  address.parts[0].value = 0;
  return address;
}

Operand read_symbol(Cursor& cursor) {
  Operand symbol = cursor.peek().is("_")
                       ? Operand{.kind = Operand::Sink, .name = "_", .place = cursor.take().place}
                       : read_name(cursor, "an operand");
  if (cursor.accept("|")) {
    Operand pair{.kind = Operand::Pair, .place = symbol.place};
    pair.parts.push_back(std::move(symbol));
    pair.parts.push_back(read_operand(cursor, false));
    return pair;
  }
  symbol.value = read_offset(cursor);
  return symbol;
}

}  // namespace

Operand read_name(Cursor& cursor, std::string_view wanted) {
  const Token& token = cursor.expect(Token::Word, wanted);
  Operand operand{.kind = Operand::Name, .name = std::string(token.text), .place = token.place};
  if (cursor.peek().kind == Token::Dotted && cursor.peek().is_adjacent) {
    operand.name += cursor.take().text;
  }
  return operand;
}

Operand read_operand(Cursor& cursor, bool is_call) {
  const Token& token = cursor.peek();
  if (token.is("{")) {
    cursor.take();
    Operand vector{.kind = Operand::Vector, .place = token.place};
    vector.parts = read_list(cursor, "}", is_call);
    return vector;
  }
  if (token.is("[")) return read_address(cursor);
  if (token.is("(") && is_call) {
    cursor.take();
    Operand arguments{.kind = Operand::Arguments, .place = token.place};
    arguments.parts = read_list(cursor, ")", is_call);
    return arguments;
  }
  if (begins_constant(cursor)) return read_constant(cursor);
  if (token.is("!") || token.is("-")) {
    cursor.take();
    const Nesting nesting(cursor);
    Operand operand = read_operand(cursor, is_call);
    operand.negated = !operand.negated;
    operand.place = token.place;
    return operand;
  }
  return read_symbol(cursor);
}

}  // namespace tw::vgpu::ptx
