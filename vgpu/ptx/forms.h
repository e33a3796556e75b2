// Which instructions a module is made of.
#pragma once

#include <map>
#include <string>

#include "vgpu/ptx/program.h"

namespace tw::vgpu::ptx {

struct Forms {
  std::map<std::string, std::uint64_t> opcodes;  // "ld": how often
  std::map<std::string, std::uint64_t> forms;    // "ld.global.v4.u32"
};

// Adds the instructions of a module for which counts(function, instruction) holds.
template <class Counts>
void count_forms(Forms& forms, const Module& module, const Counts& counts) {
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.instructions) {
      if (!counts(function, instruction)) continue;
      ++forms.opcodes[std::string(instruction.opcode())];
      ++forms.forms[instruction.form];
    }
  }
}

// "    12  ld.global.v4.u32", the most frequent first, behind a line that counts them.
std::string describe(const Forms& forms);

}  // namespace tw::vgpu::ptx
