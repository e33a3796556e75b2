#include "vgpu/ptx/read/module.h"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/ptx/read/body.h"
#include "vgpu/ptx/read/constant.h"
#include "vgpu/ptx/read/declaration.h"
#include "vgpu/ptx/read/operand.h"

namespace tw::vgpu::ptx {
namespace {

bool is_linkage(const Token& token) {
  return token.is(".extern") || token.is(".visible") || token.is(".weak") || token.is(".common");
}

class Reader {
 public:
  explicit Reader(std::string_view text) : cursor_(text) {}

  Module read() {
    header();
    while (!cursor_.at_end()) statement();
    for (Variable& variable : module_.variables) {
      for (Initial& initial : variable.initial) scopes_.resolve(initial.value, Scopes::module);
    }
    return std::move(module_);
  }

 private:
  void header() {
    cursor_.expect(".version", "'.version', with which every module begins");
    const Token& version = cursor_.expect(Token::Number, "a version like 9.0");
    const std::size_t dot = version.text.find('.');
    const auto is_number = [](std::string_view text) {
      return !text.empty() && text.size() < 4 &&
             text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (dot == std::string_view::npos || !is_number(version.text.substr(0, dot)) ||
        !is_number(version.text.substr(dot + 1))) {
      fail_expecting(version, "a version like 9.0");
    }
    module_.major = static_cast<unsigned>(std::stoul(std::string(version.text.substr(0, dot))));
    module_.minor = static_cast<unsigned>(std::stoul(std::string(version.text.substr(dot + 1))));
    cursor_.expect(".target", "'.target' behind the version");
    do {
      module_.targets.emplace_back(cursor_.expect(Token::Word, "a target like sm_90a").text);
    } while (cursor_.accept(","));
    if (cursor_.accept(".address_size")) {
      const std::uint64_t bits = read_count(cursor_, "32 or 64");
      module_.address_size = static_cast<unsigned>(bits);
    }
  }

  void statement() {
    const Token& token = cursor_.peek();
    if (cursor_.accept(";") || read_source_line(cursor_, module_)) return;
    if (cursor_.accept(".section")) {
      const Token& name = cursor_.expect(Token::Dotted, "the name of a section");
      module_.sections.emplace_back(name.text.substr(1));
      return cursor_.skip_braces();
    }
    if (cursor_.accept(".pragma")) {
      const Token& text = cursor_.expect(Token::String, "a string behind .pragma");
      module_.directives.push_back({"pragma", {}, std::string(text.text), token.place});
      cursor_.expect(";", "';' behind .pragma");
      return;
    }
    if (cursor_.accept(".alias")) return alias();
    std::string linkage;
    while (is_linkage(cursor_.peek())) linkage = cursor_.take().text.substr(1);
    if (cursor_.peek().is(".entry") || cursor_.peek().is(".func")) return function(linkage);
    const std::optional<Space> space = space_of(cursor_.peek());
    if (!space.has_value()) fail_expecting(cursor_.peek(), "a declaration or a function");
    cursor_.take();
    for (Variable& variable : read_variables(cursor_, *space))
      declare(std::move(variable), linkage);
  }

  void declare(Variable variable, const std::string& linkage) {
    variable.linkage = linkage;
    // A variable may be declared as another module's before it is defined.
    if (const Symbol* known = scopes_.find_here(Scopes::module, variable.name)) {
      if (known->kind == Operand::Global && module_.variables[known->index].linkage == "extern") {
        module_.variables[known->index] = std::move(variable);
        return;
      }
    }
    scopes_.declare(Scopes::module, variable.name,
                    {Operand::Global, static_cast<std::uint32_t>(module_.variables.size())},
                    variable.place);
    module_.variables.push_back(std::move(variable));
  }

  // .alias new, known;
  void alias() {
    const Token name = cursor_.expect(Token::Word, "the name of a function");
    cursor_.expect(",", "',' behind the name of a function");
    const Token known = cursor_.expect(Token::Word, "the name of a function");
    cursor_.expect(";", "';' behind .alias");
    const Symbol* symbol = scopes_.find_here(Scopes::module, std::string(known.text));
    if (symbol == nullptr || symbol->kind != Operand::Function) {
      fail_expecting(known, "the name of a function");
    }
    if (scopes_.find_here(Scopes::module, std::string(name.text)) == nullptr) {
      scopes_.declare(Scopes::module, std::string(name.text), *symbol, name.place);
    }
  }

  void parameters(Function& function, std::uint32_t scope) {
    if (!cursor_.accept("(")) return;
    while (!cursor_.accept(")")) {
      if (cursor_.accept(".reg")) {
        function.by_register.push_back(function.register_count);
        read_one_register(function, scope);
      } else {
        cursor_.expect(".param", "'.param', '.reg' or ')'");
        Variable variable = read_parameter(cursor_);
        scopes_.declare(scope, variable.name,
                        {Operand::Variable, static_cast<std::uint32_t>(function.variables.size())},
                        variable.place);
        function.variables.push_back(std::move(variable));
      }
      if (!cursor_.peek().is(")")) cursor_.expect(",", "',' or ')' behind a parameter");
    }
  }

  // .b32 %x: a comma behind it begins the next parameter.
  void read_one_register(Function& function, std::uint32_t scope) {
    const Token& type = cursor_.expect(Token::Dotted, "the type of a register");
    const Token& name = cursor_.expect(Token::Word, "the name of a register");
    scopes_.declare(scope, std::string(name.text), {Operand::Register, function.register_count},
                    name.place);
    function.registers.push_back({.prefix = std::string(name.text),
                                  .type = std::string(type.text.substr(1)),
                                  .first = function.register_count});
    ++function.register_count;
  }

  void function(const std::string& linkage) {
    Function made;
    made.linkage = linkage;
    made.is_entry = cursor_.take().is(".entry");
    const std::uint32_t scope = scopes_.open(Scopes::module);
    while (cursor_.accept(".attribute")) {
      while (!cursor_.at_end() && !cursor_.accept(")")) cursor_.take();
    }
    parameters(made, scope);
    made.results = static_cast<std::uint32_t>(made.variables.size() + made.by_register.size());
    const Token& name = cursor_.expect(Token::Word, "the name of a function");
    made.name = name.text;
    made.place = name.place;
    parameters(made, scope);
    made.parameters = static_cast<std::uint32_t>(made.variables.size() + made.by_register.size());
    while (cursor_.peek().kind == Token::Dotted) directive(made);
    const std::uint32_t index = declare_function(made);
    if (cursor_.accept(";")) {
      if (!module_.functions[index].has_body) module_.functions[index] = std::move(made);
      return;
    }
    if (module_.functions[index].has_body) {
      fail_at(made.place, fmt::format("'{}' is defined twice.", made.name));
    }
    read_body(cursor_, module_, made, scopes_, scope);
    module_.functions[index] = std::move(made);
  }

  std::uint32_t declare_function(const Function& function) {
    const Symbol* known = scopes_.find_here(Scopes::module, function.name);
    if (known != nullptr && known->kind == Operand::Function) return known->index;
    const auto index = static_cast<std::uint32_t>(module_.functions.size());
    scopes_.declare(Scopes::module, function.name, {Operand::Function, index}, function.place);
    module_.functions.emplace_back();
    return index;
  }

  // .maxntid 256, 1, 1   .minnctapersm 2   .explicitcluster   .pragma "nounroll";
  void directive(Function& function) {
    const Token& name = cursor_.take();
    Directive made{std::string(name.text.substr(1)), {}, {}, name.place};
    if (cursor_.peek().kind == Token::String) {
      made.text = cursor_.take().text;
      cursor_.expect(";", "';' behind a directive with a string");
    } else if (cursor_.peek().kind == Token::Number) {
      do {
        made.numbers.push_back(static_cast<std::int64_t>(read_count(cursor_, "a number")));
      } while (cursor_.accept(","));
    }
    function.directives.push_back(std::move(made));
  }

  Cursor cursor_;
  Module module_;
  Scopes scopes_;
};

}  // namespace

Result<Module> read(std::string_view text) {
  return attempt([&] { return Reader(text).read(); });
}

}  // namespace tw::vgpu::ptx
