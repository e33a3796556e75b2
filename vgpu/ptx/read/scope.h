// What names mean. A block of braces has names of its own, and a label may stand behind who jumps
// to it: names are resolved when a function has been read.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/program.h"

namespace tw::vgpu::ptx {

struct Symbol {
  Operand::Kind kind = Operand::Name;  // Register, Variable, Global, Label, Table or Function
  std::uint32_t index = 0;
  std::uint32_t count = 1;  // registers in a numbered range, which has its prefix as its name
  unsigned vector = 1;
};

class Scopes {
 public:
  static constexpr std::uint32_t module = 0;

  Scopes() : scopes_(1) {}

  std::uint32_t open(std::uint32_t outer);
  // Refuses a name that the block has already.
  void declare(std::uint32_t scope, const std::string& name, const Symbol& symbol, Place place);
  void declare_range(std::uint32_t scope, const std::string& prefix, const Symbol& symbol,
                     Place place);
  // Null: the block itself does not have it.
  const Symbol* find_here(std::uint32_t scope, const std::string& name) const;

  // Makes a Name, and those in its parts, to what it is in this block, or refuses it.
  void resolve(Operand& operand, std::uint32_t scope) const;

 private:
  struct Scope {
    std::uint32_t outer = 0;
    std::unordered_map<std::string, Symbol> names;
    std::unordered_map<std::string, Symbol> ranges;
  };
  bool look_up(Operand& operand, const std::string& name, std::uint32_t scope) const;

  std::vector<Scope> scopes_;
};

// Whether this names a special register: %tid, %clock64.
bool is_special(std::string_view name);

}  // namespace tw::vgpu::ptx
