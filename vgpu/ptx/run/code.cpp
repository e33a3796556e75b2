#include "vgpu/ptx/run/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

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
    for (std::size_t i = 0; i < code.function->variables.size(); ++i) {
      place_if(code.placed[i], code.function->variables[i]);
    }
  }
}

void place_variables(Code& code) {
  const Function& function = *code.function;
  code.placed.resize(function.variables.size());
  code.placed_globally.resize(code.module->variables.size());
  for (std::size_t i = 0; i < function.variables.size(); ++i) {
    const Variable& variable = function.variables[i];
    if (i < function.parameters) {
      place(code.placed[i], variable, code.parameter_bytes);
    } else if (variable.space == Space::Local || variable.space == Space::Parameter) {
      place(code.placed[i], variable, code.local_bytes);
    } else if (variable.space != Space::Shared) {
      place(code.placed[i], variable, code.loaded_bytes);
    }
  }
  for (std::size_t i = 0; i < code.module->variables.size(); ++i) {
    const Variable& variable = code.module->variables[i];
    if (variable.space == Space::Global || variable.space == Space::Constant) {
      place(code.placed_globally[i], variable, code.loaded_bytes);
    }
  }
  place_shared(code);
}

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

class Preparation {
 public:
  Preparation(const Module& module, const Function& function) : slots_(function) {
    code_.module = &module;
    code_.function = &function;
  }

  Code make() {
    place_variables(code_);
    for (const Instruction& instruction : code_.function->instructions) {
      if (!writes_later(instruction)) continue;
      code_.loads_tensor_memory |= loads_registers(instruction);
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::Vector) slots_.keep_together(operand.parts, true);
      }
    }
    for (const Instruction& instruction : code_.function->instructions) add(instruction);
    for (std::size_t i = 0; i < code_.steps.size(); ++i) {
      Step& step = code_.steps[i];
      step.slots = code_.slots.data() + first_slots_[i].slot;
      step.addresses = code_.addresses.data() + first_slots_[i].address;
      step.owned = code_.slots.data() + first_slots_[i].owned;
    }
    code_.image = slots_.image();
    code_.filled = slots_.filled();
    return std::move(code_);
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
    if (const Form* form = form_table().find(*code_.function, instruction)) {
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
  Code code_;
  std::vector<First> first_slots_;
};

}  // namespace

std::string Code::place_of(std::uint32_t instruction) const {
  if (instruction >= function->instructions.size()) return "the end";
  const Instruction& at = function->instructions[instruction];
  const std::string source = module->source_line(at);
  return fmt::format("line {}{}", at.place.line, source.empty() ? "" : " (" + source + ")");
}

bool has_model(const Function& function, const Instruction& instruction) {
  return form_table().find(function, instruction) != nullptr;
}

Result<Code> prepare(const Module& module, const std::string& entry) {
  return attempt([&] {
    const Function* const function = module.find_entry(entry);
    if (function == nullptr) throw Refusal(fmt::format("The module has no entry '{}'.", entry));
    if (module.address_size != 64) throw Refusal("Only modules with .address_size 64 can run.");
    return Preparation(module, *function).make();
  });
}

}  // namespace tw::vgpu::ptx
