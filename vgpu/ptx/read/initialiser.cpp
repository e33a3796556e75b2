#include "vgpu/ptx/read/initialiser.h"

#include <fmt/format.h>

#include "vgpu/ptx/read/constant.h"
#include "vgpu/ptx/read/operand.h"

namespace tw::vgpu::ptx {
namespace {

// generic(name)+4 is the generic address of a variable, which is the one that we give to all.
Operand read_value(Cursor& cursor) {
  if (begins_constant(cursor)) return read_constant(cursor);
  if (cursor.peek().is("generic") && cursor.peek(1).is("(")) {
    cursor.take();
    cursor.take();
    Operand inner = read_operand(cursor, false);
    cursor.expect(")", "')' behind generic(");
    if (cursor.accept("+")) {
      inner.value += static_cast<std::int64_t>(read_count(cursor, "a number of bytes"));
    }
    return inner;
  }
  return read_operand(cursor, false);
}

// A list of `level` more dimensions that begins at this element; returns how many values the list
// has at its outermost level.
std::uint64_t read_list(Cursor& cursor, Variable& variable, std::size_t level,
                        std::uint64_t first) {
  const Nesting nesting(cursor);
  const Token& open = cursor.expect("{", "'{' before the values of an array");
  std::uint64_t stride = variable.vector;
  for (std::size_t i = level + 1; i < variable.extents.size(); ++i) stride *= variable.extents[i];
  const bool is_innermost = level + 1 >= variable.extents.size();
  const std::uint64_t room = level < variable.extents.size() ? variable.extents[level] : 1;
  std::uint64_t count = 0;
  while (!cursor.accept("}")) {
    if (count > 0) cursor.expect(",", "',' or '}' behind a value");
    if (room != 0 && count == room * (is_innermost ? variable.vector : 1)) {
      fail_at(open.place, fmt::format("'{}' has more values than elements.", variable.name));
    }
    if (cursor.peek().is("{")) {
      read_list(cursor, variable, level + 1, first + count * stride);
    } else {
      variable.initial.push_back({first + count * (is_innermost ? 1 : stride), read_value(cursor)});
    }
    ++count;
  }
  return count;
}

}  // namespace

void read_initialiser(Cursor& cursor, Variable& variable) {
  if (!cursor.peek().is("{")) {
    variable.initial.push_back({0, read_value(cursor)});
    return;
  }
  const std::uint64_t count = read_list(cursor, variable, 0, 0);
  if (!variable.extents.empty() && variable.extents[0] == 0) {
    const bool of_vectors = variable.extents.size() == 1;
    variable.extents[0] = of_vectors ? count / variable.vector : count;
  }
}

}  // namespace tw::vgpu::ptx
