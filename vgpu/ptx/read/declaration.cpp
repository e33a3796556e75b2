#include "vgpu/ptx/read/declaration.h"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/ptx/read/constant.h"
#include "vgpu/ptx/read/initialiser.h"
#include "vgpu/ptx/read/operand.h"

namespace tw::vgpu::ptx {
namespace {

// What several variables of one declaration share.
struct Kind {
  std::string type;
  unsigned alignment = 0;
  unsigned vector = 1;
};

// What a pointer points to: .ptr .global .align 16. It is a promise to the compiler alone.
void skip_pointee(Cursor& cursor) {
  while (space_of(cursor.peek()).has_value()) cursor.take();
  if (cursor.accept(".align")) read_count(cursor, "an alignment in bytes");
}

Kind read_kind(Cursor& cursor, const char* what) {
  Kind kind;
  while (cursor.peek().kind == Token::Dotted) {
    const Token& token = cursor.take();
    if (token.is(".align")) {
      const std::uint64_t bytes = read_count(cursor, "an alignment in bytes");
      if (bytes == 0 || bytes > 1 << 20 || (bytes & (bytes - 1)) != 0) {
        fail_at(token.place, fmt::format("an alignment is a power of two, and not {}.", bytes));
      }
      kind.alignment = static_cast<unsigned>(bytes);
    } else if (token.is(".v2") || token.is(".v4") || token.is(".v8")) {
      kind.vector = static_cast<unsigned>(token.text[2] - '0');
    } else if (token.is(".ptr")) {
      skip_pointee(cursor);
    } else if (token.is(".attribute")) {
      cursor.expect("(", "'(' behind .attribute");
      while (!cursor.at_end() && !cursor.accept(")")) cursor.take();
    } else if (kind.type.empty()) {
      kind.type = token.text.substr(1);
    } else {
      fail_expecting(token, fmt::format("the name of {}", what));
    }
  }
  if (kind.type.empty()) fail_expecting(cursor.peek(), fmt::format("the type of {}", what));
  return kind;
}

void read_extents(Cursor& cursor, Variable& variable) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  while (cursor.peek().is("[")) {
    const Token& open = cursor.take();
    variable.is_array = true;
    std::uint64_t extent = 0;
    if (!cursor.peek().is("]")) extent = read_count(cursor, "the length of an array");
    cursor.expect("]", "']' behind the length of an array");
    if (extent > most || variable.elements() * extent > most) {
      fail_at(open.place, "an array is larger than any memory.");
    }
    variable.extents.push_back(extent);
  }
}

Variable read_variable(Cursor& cursor, Space space, const Kind& kind) {
  const Token& name = cursor.expect(Token::Word, "the name of a variable");
  Variable variable;
  variable.name = name.text;
  variable.space = space;
  variable.type = kind.type;
  variable.vector = kind.vector;
  variable.alignment =
      kind.alignment != 0 ? kind.alignment : std::max(1u, kind.vector * bytes_of_type(kind.type));
  variable.place = name.place;
  read_extents(cursor, variable);
  return variable;
}

}  // namespace

std::optional<Space> space_of(const Token& token) {
  for (const Space space :
       {Space::Parameter, Space::Shared, Space::Local, Space::Global, Space::Constant}) {
    if (token.kind == Token::Dotted && token.text.substr(1) == name_of(space)) return space;
  }
  return std::nullopt;
}

std::vector<Variable> read_variables(Cursor& cursor, Space space) {
  const Kind kind = read_kind(cursor, "a variable");
  std::vector<Variable> variables;
  do {
    variables.push_back(read_variable(cursor, space, kind));
    if (cursor.accept("=")) read_initialiser(cursor, variables.back());
  } while (cursor.accept(","));
  cursor.expect(";", "';' behind a declaration");
  return variables;
}

Variable read_parameter(Cursor& cursor) {
  return read_variable(cursor, Space::Parameter, read_kind(cursor, "a parameter"));
}

void read_registers(Cursor& cursor, Function& function, Scopes& scopes, std::uint32_t scope) {
  constexpr std::uint64_t most = 1 << 24;
  const Kind kind = read_kind(cursor, "a register");
  do {
    const Token& name = cursor.expect(Token::Word, "the name of a register");
    RegisterRange range{.prefix = std::string(name.text),
                        .type = kind.type,
                        .first = function.register_count,
                        .vector = kind.vector};
    if (cursor.accept("<")) {
      const std::uint64_t count = read_count(cursor, "a number of registers");
      cursor.expect(">", "'>' behind a number of registers");
      if (count * kind.vector + function.register_count > most) {
        fail_at(name.place, "a function has more than 16777216 registers.");
      }
      range.count = static_cast<std::uint32_t>(count);
      range.is_numbered = true;
    }
    const Symbol symbol{Operand::Register, range.first, range.count, kind.vector};
    if (range.is_numbered) {
      scopes.declare_range(scope, range.prefix, symbol, name.place);
    } else {
      scopes.declare(scope, range.prefix, symbol, name.place);
    }
    function.register_count += range.count * kind.vector;
    if (range.count > 0) function.registers.push_back(std::move(range));
  } while (cursor.accept(","));
}

}  // namespace tw::vgpu::ptx
