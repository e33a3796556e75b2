#include "vgpu/ptx/run/slots.h"

#include <algorithm>

#include "vgpu/ptx/run/code.h"

namespace tw::vgpu::ptx {
namespace {

constexpr std::uint32_t poison = 0xffff'ffff;  // NaN in every floating-point format

unsigned words_of(const std::string& type) { return std::max(1u, bytes_of_type(type) / 4); }

}  // namespace

Slots::Slots(const Function& function)
    : function_(function), registers_(function.register_count, no_slot_here) {
  sink_ = take(4, poison);
}

Slot Slots::take(unsigned words, std::uint32_t value) {
  while (image_.size() % words != 0) image_.push_back(poison);
  const auto slot = static_cast<Slot>(image_.size());
  image_.insert(image_.end(), words, value);
  return slot;
}

void Slots::keep_together(const std::vector<Operand>& parts, bool is_owned) {
  const bool is_new = std::all_of(parts.begin(), parts.end(), [&](const Operand& part) {
    return part.kind == Operand::Register && registers_[part.index] == no_slot_here &&
           words_of(function_.range_of(part.index).type) == 1;
  });
  if (!is_new) return;
  for (const Operand& part : parts) {
    if (registers_[part.index] == no_slot_here) registers_[part.index] = take(1, poison);
  }
  owned_.resize(image_.size());
  for (const Operand& part : parts) owned_[registers_[part.index]] = is_owned;
}

bool Slots::are_together(const std::vector<Operand>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind != Operand::Register || of(parts[i]) != of(parts[0]) + i) return false;
  }
  return true;
}

Slot Slots::of_register(std::uint32_t number) {
  Slot& slot = registers_[number];
  if (slot == no_slot_here) slot = take(words_of(function_.range_of(number).type), poison);
  return slot;
}

Slot Slots::constant(std::uint64_t value) {
  const auto [known, is_new] = constants_.try_emplace(value, 0);
  if (is_new) {
    known->second = take(2, 0);
    image_[known->second] = static_cast<std::uint32_t>(value);
    image_[known->second + 1] = static_cast<std::uint32_t>(value >> 32);
  }
  return known->second;
}

Slot Slots::of(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Register: return of_register(operand.index);
    case Operand::Integer:
    case Operand::Float:
    case Operand::Double: return constant(static_cast<std::uint64_t>(operand.value));
    case Operand::Function: return constant(function_begin + operand.index);
    case Operand::Special:
    case Operand::Variable:
    case Operand::Global:
      for (const Filled& filled : filled_) {
        const Operand& what = filled.what;
        if (what.kind == operand.kind && what.index == operand.index &&
            what.value == operand.value &&
            (what.kind != Operand::Special || what.name == operand.name)) {
          return filled.slot;
        }
      }
      filled_.push_back({take(2, 0), operand});
      return filled_.back().slot;
    default: return sink_;
  }
}

bool Slots::is_wide(const Operand& operand) const {
  switch (operand.kind) {
    case Operand::Register: return words_of(function_.range_of(operand.index).type) == 2;
    case Operand::Vector:
    case Operand::Pair: return !operand.parts.empty() && is_wide(operand.parts[0]);
    default: return true;
  }
}

}  // namespace tw::vgpu::ptx
