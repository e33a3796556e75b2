#include "vgpu/ptx/run/form_table.h"

#include <algorithm>
#include <array>
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
    if (operand.negated) return false;
    if (shape_.size() > 1 && shape_[1] == '|') return pair(operand);
    const char wanted = take();
    switch (wanted) {
      case '{': return operand.kind == Operand::Vector && list(operand.parts) && take() == '}';
      case '[':
        return operand.kind == Operand::Address && operand.value == 0 && list(operand.parts) &&
               take() == ']';
      case 'A': return is_address(operand);
      case 'L': return operand.kind == Operand::Label;
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
      case Operand::Double: return wanted == '8';
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
  const auto found = forms_.find(without_hints(instruction.form));
  if (found == forms_.end()) return nullptr;
  for (const Form& form : found->second) {
    if (Matching(function, form.operands).all(instruction.operands)) return &form;
  }
  return nullptr;
}

std::string without_hints(const std::string& form) {
  if (!form.starts_with("ld.") && !form.starts_with("st.")) return form;
  static constexpr std::array<std::string_view, 12> hints = {
      "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "L2::64B", "L2::128B", "L2::256B"};
  std::string kept;
  std::string_view rest = form;
  while (!rest.empty()) {
    const std::size_t dot = rest.find('.', 1);
    const std::string_view word = rest.substr(0, dot);
    const std::string_view name = word.substr(word[0] == '.' ? 1 : 0);
    const bool is_hint =
        std::find(hints.begin(), hints.end(), name) != hints.end() || name.starts_with("L1::");
    if (!is_hint) kept += word;
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot);
  }
  return kept;
}

const FormTable& form_table() {
  static const FormTable table = [] {
    FormTable made;
    for (const auto add : {add_bits, add_comparisons, add_conversions, add_copies, add_flow,
                           add_floating, add_integers, add_matrices, add_memory, add_moves,
                           add_signals, add_tensor_memory, add_warps}) {
      add(made);
    }
    return made;
  }();
  return table;
}

}  // namespace tw::vgpu::ptx
