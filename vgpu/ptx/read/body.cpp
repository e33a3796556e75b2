#include "vgpu/ptx/read/body.h"

#include <fmt/format.h>

#include "vgpu/ptx/read/constant.h"
#include "vgpu/ptx/read/declaration.h"
#include "vgpu/ptx/read/operand.h"

namespace tw::vgpu::ptx {
namespace {

class Body {
 public:
  Body(Cursor& cursor, Module& module, Function& function, Scopes& scopes)
      : cursor_(cursor), module_(module), function_(function), scopes_(scopes) {}

  void block(std::uint32_t scope) {
    const Nesting nesting(cursor_);
    const Token& open = cursor_.expect("{", "'{' before the body of a function");
    while (!cursor_.accept("}")) {
      if (cursor_.at_end()) fail_at(open.place, "this '{' is never closed.");
      statement(scope);
    }
  }

  void resolve() {
    for (std::size_t i = 0; i < function_.instructions.size(); ++i) {
      Instruction& instruction = function_.instructions[i];
      for (Operand& operand : instruction.operands) scopes_.resolve(operand, scope_of_[i]);
      if (!instruction.is_predicated) continue;
      scopes_.resolve(instruction.predicate, scope_of_[i]);
      if (instruction.predicate.kind != Operand::Register) {
        fail_at(instruction.predicate.place, "expected a register behind '@'.");
      }
    }
    for (std::size_t i = 0; i < function_.tables.size(); ++i) {
      for (Operand& target : function_.tables[i].targets) {
        scopes_.resolve(target, scope_of_table_[i]);
      }
    }
  }

 private:
  void statement(std::uint32_t scope) {
    const Token& token = cursor_.peek();
    if (token.is("{")) return block(scopes_.open(scope));
    if (cursor_.accept(";")) return;
    if (token.kind == Token::Word && cursor_.peek(1).is(":")) return label(scope);
    if (token.kind == Token::Dotted) return directive(scope);
    instruction(scope);
  }

  void label(std::uint32_t scope) {
    const Token name = cursor_.take();
    cursor_.take();
    if (cursor_.peek().is(".branchtargets") || cursor_.peek().is(".calltargets") ||
        cursor_.peek().is(".callprototype")) {
      scopes_.declare(scope, std::string(name.text),
                      {Operand::Table, static_cast<std::uint32_t>(function_.tables.size())},
                      name.place);
      return table(scope);
    }
    scopes_.declare(scope, std::string(name.text),
                    {Operand::Label, static_cast<std::uint32_t>(function_.instructions.size())},
                    name.place);
  }

  void table(std::uint32_t scope) {
    const Token& kind = cursor_.take();
    Table table{std::string(kind.text.substr(1)), {}, kind.place};
    if (table.kind == "callprototype") {
      while (!cursor_.at_end() && !cursor_.peek().is(";")) cursor_.take();
    } else {
      do {
        table.targets.push_back(read_name(cursor_, "a target"));
      } while (cursor_.accept(","));
    }
    cursor_.expect(";", "';' behind a list of targets");
    function_.tables.push_back(std::move(table));
    scope_of_table_.push_back(scope);
  }

  void directive(std::uint32_t scope) {
    if (read_source_line(cursor_, module_)) {
      location_ = static_cast<int>(module_.locations.size()) - 1;
      return;
    }
    const Token& token = cursor_.take();
    if (token.is(".reg")) {
      read_registers(cursor_, function_, scopes_, scope);
      cursor_.expect(";", "';' behind a declaration of registers");
      return;
    }
    if (token.is(".pragma")) {
      const Token& text = cursor_.expect(Token::String, "a string behind .pragma");
      function_.directives.push_back({"pragma", {}, std::string(text.text), token.place});
      cursor_.expect(";", "';' behind .pragma");
      return;
    }
    const std::optional<Space> space = space_of(token);
    if (!space.has_value()) fail_expecting(token, "a declaration, a label or an instruction");
    for (Variable& variable : read_variables(cursor_, *space)) {
      scopes_.declare(scope, variable.name,
                      {Operand::Variable, static_cast<std::uint32_t>(function_.variables.size())},
                      variable.place);
      for (Initial& initial : variable.initial) scopes_.resolve(initial.value, scope);
      function_.variables.push_back(std::move(variable));
    }
  }

  void instruction(std::uint32_t scope) {
    Instruction made;
    made.place = cursor_.peek().place;
    made.location = location_;
    if (cursor_.accept("@")) {
      const bool negated = cursor_.accept("!");
      made.is_predicated = true;
      made.predicate = read_name(cursor_, "a predicate behind '@'");
      made.predicate.negated = negated;
    }
    made.form = cursor_.expect(Token::Word, "an instruction").text;
    while (cursor_.peek().kind == Token::Dotted) made.form += cursor_.take().text;
    const bool is_call = made.opcode() == "call";
    if (!cursor_.accept(";")) {
      do {
        made.operands.push_back(read_operand(cursor_, is_call));
      } while (cursor_.accept(","));
      cursor_.expect(";", "',' or ';' behind an operand");
    }
    function_.instructions.push_back(std::move(made));
    scope_of_.push_back(scope);
  }

  Cursor& cursor_;
  Module& module_;
  Function& function_;
  Scopes& scopes_;
  std::vector<std::uint32_t> scope_of_, scope_of_table_;
  int location_ = -1;
};

}  // namespace

void read_body(Cursor& cursor, Module& module, Function& function, Scopes& scopes,
               std::uint32_t scope) {
  Body body(cursor, module, function, scopes);
  body.block(scope);
  body.resolve();
  function.has_body = true;
}

bool read_source_line(Cursor& cursor, Module& module) {
  if (cursor.accept(".file")) {
    const auto number = static_cast<unsigned>(read_count(cursor, "the number of a file"));
    const Token& name = cursor.expect(Token::String, "the name of a file");
    module.files.emplace_back(number, std::string(name.text.substr(1, name.text.size() - 2)));
    while (cursor.accept(",")) read_count(cursor, "a time or a size");
    return true;
  }
  if (!cursor.accept(".loc")) return false;
  Location location;
  location.file = static_cast<unsigned>(read_count(cursor, "the number of a file"));
  location.line = static_cast<unsigned>(read_count(cursor, "a line"));
  location.column = static_cast<unsigned>(read_count(cursor, "a column"));
  // Inlined calls: , function_name label+4, inlined_at 1 20 3
  while (cursor.accept(",")) {
    const Token& word = cursor.expect(Token::Word, "function_name or inlined_at");
    if (word.is("function_name")) {
      read_operand(cursor, false);
    } else {
      for (int i = 0; i < 3; ++i) read_count(cursor, "file, line and column");
    }
  }
  module.locations.push_back(location);
  return true;
}

}  // namespace tw::vgpu::ptx
