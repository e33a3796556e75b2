#include "vgpu/ptx/run/form_table.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace tw::vgpu::ptx {
namespace {

// 1 for predicates, else bytes.
unsigned width_of(const Function& function, const Operand& operand) {
  const std::string& type = function.range_of(operand.index).type;
  return type == "pred" ? 1 : std::max(2u, bytes_of_type(type));
}

class Matching {
 public:
  Matching(const Function& function, std::string_view shape) : function_(function), shape_(shape) {}

  bool all(const std::vector<Operand>& operands) { return list(operands) && shape_.empty(); }

 private:
  bool next_is(char c) const { return !shape_.empty() && shape_[0] == c; }
  char take() {
    const char c = shape_.empty() ? '\0' : shape_[0];
    if (!shape_.empty()) shape_.remove_prefix(1);
    return c;
  }
  bool list(const std::vector<Operand>& operands) {
    return std::all_of(operands.begin(), operands.end(),
                       [&](const Operand& operand) { return one(operand); });
  }

  bool one(const Operand& operand) {
    if (shape_.empty()) return false;
    if (operand.negated != next_is('!')) return false;
    if (operand.negated) take();
    if (shape_.size() > 1 && shape_[1] == '|') return pair(operand);
    const char wanted = take();
    switch (wanted) {
      case '{': return operand.kind == Operand::Vector && list(operand.parts) && take() == '}';
      case '[':
        return operand.kind == Operand::Address && operand.value == 0 && list(operand.parts) &&
               take() == ']';
      case 'A': return is_address(operand);
      case 'L': return operand.kind == Operand::Label;
      case 'T': return operand.kind == Operand::Table;
      default: return is_value(operand, wanted);
    }
  }
  bool pair(const Operand& operand) {
    if (operand.kind != Operand::Pair) return false;
    const char first = take();
    take();
    return is_value(operand.parts[0], first) && !operand.parts[1].negated &&
           is_value(operand.parts[1], take());
  }
  bool is_address(const Operand& operand) const {
    if (operand.kind != Operand::Address || operand.parts.size() != 1) return false;
    const Operand& where = operand.parts[0];
    if (where.negated) return false;
    if (where.kind == Operand::Register) {
      const unsigned width = width_of(function_, where);
      return width == 4 || width == 8;
    }
    return where.kind == Operand::Variable || where.kind == Operand::Global ||
           where.kind == Operand::Integer;
  }
  bool is_value(const Operand& operand, char wanted) const {
    switch (operand.kind) {
      case Operand::Register: {
        if (operand.value != 0) return false;
        const unsigned width = width_of(function_, operand);
        if (wanted == 'r' || wanted == 'H') return width != 1 && width != 16;
        if (wanted == 'W') return width == 4 || width == 8;
        return width == (wanted == 'f' ? 16u : static_cast<unsigned>(wanted - '0'));
      }
      case Operand::Sink: return true;
      case Operand::Integer: return wanted != 'f' && wanted != '_';
      case Operand::Float: return wanted == '4' || wanted == 'r' || wanted == 'W';
      case Operand::Double:
      case Operand::Function: return wanted == '8';
      case Operand::Special:
      case Operand::Variable:
      case Operand::Global: return wanted == '4' || wanted == '8' || wanted == 'r' || wanted == 'W';
      default: return false;
    }
  }

  const Function& function_;
  std::string_view shape_;
};

}  // namespace

const Form* FormTable::find(const Function& function, const Instruction& instruction) const {
  const auto found = forms_.find(canonical_name(instruction.form));
  if (found == forms_.end()) return nullptr;
  for (const Form& form : found->second) {
    if (Matching(function, form.operands).all(instruction.operands)) return &form;
  }
  return nullptr;
}

namespace {

// The group of CTAs may stand behind the rank, too; a group of one says nothing.
std::string with_group_last(std::string form) {
  const std::size_t at = form.find(".cta_group::");
  if (at == std::string::npos) return form;
  const std::string group = form.substr(at, std::string_view(".cta_group::2").size());
  form.erase(at, group.size());
  if (group.back() == '1') return form;
  const std::size_t hint = form.find(".L2::cache_hint");
  return form.insert(hint == std::string::npos ? form.size() : hint, group);
}

}  // namespace

std::string canonical_name(const std::string& form) {
  if (form.starts_with("cp.async.bulk.tensor.")) return with_group_last(form);
  const std::string_view opcode = std::string_view(form).substr(0, form.find('.'));
  const bool is_ordered = opcode == "ld" || opcode == "st" || opcode == "atom" || opcode == "red";
  if (!is_ordered && opcode != "ldu") return form;
  const auto among = [](std::string_view name, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const bool is_async = form.find(".async") != std::string::npos;
  std::string semantics, space, rest;
  std::string_view left = std::string_view(form).substr(opcode.size());
  while (!left.empty()) {
    const std::size_t dot = left.find('.', 1);
    const std::string_view word = left.substr(0, dot), name = word.substr(1);
    left = dot == std::string_view::npos ? std::string_view() : left.substr(dot);
    if (among(name, {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak"}) ||
        name.starts_with("L1::") || name.starts_with("L2::")) {
      continue;
    }
    if (is_async) {
      rest += word;
    } else if (among(name, {"cta", "cluster", "gpu", "sys"})) {
      continue;
    } else if (among(name, {"relaxed", "acquire", "release", "acq_rel"})) {
      semantics = word;
    } else if (among(name, {"volatile", "mmio"})) {
      semantics = ".relaxed";
    } else if (among(name, {"global", "shared", "shared::cta", "shared::cluster", "local", "param",
                            "param::entry", "param::func", "const"})) {
      space = word;
    } else {
      rest += word;
    }
  }
  return std::string(opcode == "ldu" ? "ld" : opcode) + semantics + space + rest;
}

const FormTable& form_table() {
  static const FormTable table = [] {
    FormTable made;
    for (const auto add :
         {add_bits, add_bulk_copies, add_comparisons, add_conversions, add_copies, add_flow,
          add_floating, add_halves, add_integers, add_map_changes, add_matrices, add_memory,
          add_moves, add_pairs, add_signals, add_strong, add_tensor_memory, add_warps}) {
      add(made);
    }
    return made;
  }();
  return table;
}

}  // namespace tw::vgpu::ptx
