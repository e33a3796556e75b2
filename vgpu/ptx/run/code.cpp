#include "vgpu/ptx/run/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "vgpu/ptx/run/call.h"
#include "vgpu/ptx/run/form_table.h"

namespace tw::vgpu::ptx {
namespace {

std::uint64_t align(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

void place(Placed& placed, const Variable& variable, std::uint64_t& end) {
  placed.offset = align(end, variable.alignment);
  placed.bytes = variable.bytes();
  end = placed.offset + placed.bytes;
}

// Dynamic shared memory begins behind what has a size.
void place_shared(Code& code) {
  for (const bool is_dynamic : {false, true}) {
    std::uint64_t end = code.static_shared_bytes;
    const auto place_if = [&](Placed& placed, const Variable& variable) {
      if (variable.space != Space::Shared || (variable.bytes() == 0) != is_dynamic) return;
      if (is_dynamic) end = code.static_shared_bytes;
      place(placed, variable, end);
      if (!is_dynamic) code.static_shared_bytes = end;
    };
    for (std::size_t i = 0; i < code.module->variables.size(); ++i) {
      place_if(code.placed_globally[i], code.module->variables[i]);
    }
    for (const auto& body : code.bodies) {
      for (std::size_t i = 0; body != nullptr && i < body->placed.size(); ++i) {
        place_if(body->placed[i], body->function->variables[i]);
      }
    }
  }
}

void place_in_function(Code& code, Body& body) {
  const Function& function = *body.function;
  body.placed.resize(function.variables.size());
  for (std::size_t i = 0; i < function.variables.size(); ++i) {
    const Variable& variable = function.variables[i];
    if (function.is_entry && i < function.parameters) {
      place(body.placed[i], variable, code.parameter_bytes);
    } else if (variable.space == Space::Local || variable.space == Space::Parameter) {
      place(body.placed[i], variable, body.local_bytes);
    } else if (variable.space != Space::Shared) {
      place(body.placed[i], variable, code.loaded_bytes);
    }
  }
}

void place_variables(Code& code) {
  code.placed_globally.resize(code.module->variables.size());
  for (const auto& body : code.bodies) {
    if (body != nullptr) place_in_function(code, *body);
  }
  for (std::size_t i = 0; i < code.module->variables.size(); ++i) {
    const Variable& variable = code.module->variables[i];
    if (variable.space == Space::Global || variable.space == Space::Constant) {
      place(code.placed_globally[i], variable, code.loaded_bytes);
    }
  }
  place_shared(code);
}

// Which functions an entry may call: all whose names stand in what it reaches. Tables of functions
// in memory are for calls by address.
class Reach {
 public:
  explicit Reach(Code& code) : code_(code) { code.bodies.resize(code.module->functions.size()); }

  void add(std::uint32_t index) {
    const Function& function = code_.module->functions[index];
    if (!function.has_body || code_.bodies[index] != nullptr) return;
    code_.bodies[index] = std::make_unique<Body>();
    code_.bodies[index]->function = &function;
    for (const Instruction& instruction : function.instructions) {
      for (const Operand& operand : instruction.operands) look(operand);
    }
    for (const Table& table : function.tables) {
      for (const Operand& target : table.targets) look(target);
    }
  }
  void add_from_memory() {
    for (const Variable& variable : code_.module->variables) {
      for (const Initial& initial : variable.initial) look(initial.value);
    }
  }

 private:
  void look(const Operand& operand) {
    if (operand.kind == Operand::Function) add(operand.index);
    for (const Operand& part : operand.parts) look(part);
  }

  Code& code_;
};

// Products own the registers of their vectors while they run, and the model knows them by where
// they begin. Those of a load of tensor memory are written later, too.
bool owns_registers(const Instruction& instruction) {
  return instruction.form.starts_with("wgmma.mma_async.");
}
bool loads_registers(const Instruction& instruction) {
  return instruction.form.starts_with("tcgen05.ld.");
}
bool writes_later(const Instruction& instruction) {
  return owns_registers(instruction) || loads_registers(instruction);
}

void not_modelled(Frame& frame, const Step&) { stop_incomplete(frame, "has no model"); }
void not_together(Frame& frame, const Step&) {
  stop_incomplete(frame, "names registers in another order than an instruction before");
}

bool is_call(const Instruction& instruction) { return instruction.opcode() == "call"; }

// Accesses of these may meet others in a finding.
bool touches_memory(const Instruction& instruction) {
  if (instruction.form.starts_with("wgmma.mma") || instruction.form.starts_with("tcgen05.")) {
    return true;
  }
  return std::any_of(instruction.operands.begin(), instruction.operands.end(),
                     [](const Operand& operand) { return operand.kind == Operand::Address; });
}

class Preparation {
 public:
  Preparation(Code& code, Body& body)
      : slots_(*body.function), code_(body), function_(*body.function), whole_(code) {}

  void make() {
    for (const Instruction& instruction : function_.instructions) {
      if (!writes_later(instruction)) continue;
      code_.writes_later = true;
      code_.loads_tensor_memory |= loads_registers(instruction);
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::Vector) slots_.keep_together(operand.parts, true);
      }
    }
    for (const Instruction& instruction : function_.instructions) add(instruction);
    for (std::size_t i = 0; i < code_.steps.size(); ++i) {
      Step& step = code_.steps[i];
      step.slots = code_.slots.data() + first_slots_[i].slot;
      step.addresses = code_.addresses.data() + first_slots_[i].address;
      step.owned = code_.slots.data() + first_slots_[i].owned;
    }
    code_.image = slots_.image();
    code_.filled = slots_.filled();
  }

 private:
  struct First {
    std::size_t slot, address, owned;
  };

  void add(const Instruction& instruction) {
    Step step;
    step.instruction = static_cast<std::uint32_t>(code_.steps.size());
    step.execute = not_modelled;
    First first{code_.slots.size(), code_.addresses.size(), 0};
    if (instruction.is_predicated) {
      step.guard = slots_.of(instruction.predicate);
      step.guard_negated = instruction.predicate.negated;
    }
    if (touches_memory(instruction)) {
      whole_.sites.push_back({&function_, step.instruction});
      step.site = static_cast<std::uint32_t>(whole_.sites.size());
    }
    if (is_call(instruction)) {
      add_call(instruction, step);
    } else if (const Form* form = form_table().find(function_, instruction)) {
      step.execute = form->execute;
      step.detail = form->detail;
      for (const Operand& operand : instruction.operands) flatten(operand, step);
      if (!instruction.operands.empty()) step.is_wide = slots_.is_wide(instruction.operands[0]);
      for (const Operand& operand : instruction.operands) {
        if (writes_later(instruction) && operand.kind == Operand::Vector &&
            !slots_.are_together(operand.parts)) {
          step.execute = not_together;
        }
      }
      if (!owns_registers(instruction)) first.owned = find_owned(step, first.slot);
    }
    code_.steps.push_back(step);
    first_slots_.push_back(first);
  }

  // call (results), function, (arguments): the slots have the addresses of results and arguments;
  // of a call by address the function's stands before them.
  void add_call(const Instruction& instruction, Step& step) {
    CallShape shape;
    const Operand* callee = nullptr;
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == Operand::Arguments) {
        (callee == nullptr ? shape.results : shape.arguments) =
            static_cast<unsigned>(operand.parts.size());
      } else if (operand.kind == Operand::Function || operand.kind == Operand::Register) {
        callee = &operand;
      }
    }
    if (callee == nullptr) return;
    shape.is_indirect = callee->kind == Operand::Register;
    if (shape.is_indirect) code_.slots.push_back(slots_.of(*callee));
    step.target = callee->index;
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != Operand::Arguments) continue;
      for (const Operand& part : operand.parts) {
        if (part.kind != Operand::Variable) return;  // a register: no compiler does it now
        code_.slots.push_back(slots_.of(part));
      }
    }
    step.execute = call;
    step.detail = shape.detail();
  }

  void flatten(const Operand& operand, Step& step) {
    switch (operand.kind) {
      case Operand::Label:
      case Operand::Table: step.target = operand.index; return;
      case Operand::Vector:
      case Operand::Pair:
        for (const Operand& part : operand.parts) flatten(part, step);
        return;
      case Operand::Address:
        if (operand.parts.size() > 1) {
          for (const Operand& part : operand.parts) flatten(part, step);
          return;
        }
        add_address(operand);
        return;
      default: code_.slots.push_back(slots_.of(operand)); return;
    }
  }
  void add_address(const Operand& operand) {
    Operand where = operand.parts[0];
    const bool is_register = where.kind == Operand::Register;
    const bool is_number = where.kind == Operand::Integer;
    code_.addresses.push_back(
        {slots_.of(where), !is_register || slots_.is_wide(where), is_number ? 0 : operand.value});
  }

  // Registers of products among the step's operands: a copy of their slots.
  std::size_t find_owned(Step& step, std::size_t first_slot) {
    const std::size_t begin = code_.slots.size();
    for (std::size_t i = first_slot; i < begin; ++i) {
      if (slots_.is_owned(code_.slots[i])) code_.slots.push_back(code_.slots[i]);
    }
    if (step.guard != no_slot_here && slots_.is_owned(step.guard)) {
      code_.slots.push_back(step.guard);
    }
    step.owned_count = static_cast<std::uint32_t>(code_.slots.size() - begin);
    return begin;
  }

  Slots slots_;
  Body& code_;
  const Function& function_;
  Code& whole_;
  std::vector<First> first_slots_;
};

}  // namespace

std::string Code::place_of(const Function& in, std::uint32_t instruction) const {
  if (instruction >= in.instructions.size()) return "the end";
  const Instruction& at = in.instructions[instruction];
  const std::string source = module->source_line(at);
  return fmt::format("line {}{}", at.place.line, source.empty() ? "" : " (" + source + ")");
}

bool has_model(const Function& function, const Instruction& instruction) {
  return is_call(instruction) || form_table().find(function, instruction) != nullptr;
}

Result<Code> prepare(const Module& module, const std::string& entry) {
  return attempt([&] {
    const Function* const function = module.find_entry(entry);
    if (function == nullptr) throw Refusal(fmt::format("The module has no entry '{}'.", entry));
    if (module.address_size != 64) throw Refusal("Only modules with .address_size 64 can run.");
    Code code;
    code.module = &module;
    code.function = function;
    Reach reach(code);
    const auto index = static_cast<std::uint32_t>(function - module.functions.data());
    reach.add(index);
    reach.add_from_memory();
    code.entry = code.bodies[index].get();
    if (code.entry == nullptr) throw Refusal(fmt::format("The entry '{}' has no body.", entry));
    place_variables(code);
    for (const auto& body : code.bodies) {
      if (body != nullptr) Preparation(code, *body).make();
    }
    return code;
  });
}

}  // namespace tw::vgpu::ptx
