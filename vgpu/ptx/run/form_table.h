// The forms of instructions that can be executed, by their text.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/program.h"
#include "vgpu/ptx/run/frame.h"

namespace tw::vgpu::ptx {

struct Form {
  // Which operands it takes, one letter for each:
  //   1 !1     a predicate, and one that stands negated
  //   2 4 8 f  a register of so many bytes (f: 16), or what can be written instead of one
  //   H W      a register of at least 2, 4 bytes, whose lowest are taken
  //   r        a register of any of these widths
  //   A        an address in brackets
  //   [8{44}]  a tensor's address: its parts
  //   {44}     a vector
  //   4|1      a pair
  //   _        the sink
  //   L        a label
  //   T        a list of labels
  // Calls are no forms: call.h has them.
  std::string operands;
  Execute execute;
  std::uint32_t detail = 0;
};

class FormTable {
 public:
  void add(const std::string& name, const std::string& operands, Execute execute,
           std::uint32_t detail = 0) {
    forms_[name].push_back({operands, execute, detail});
  }
  // Null: no form has this name and takes these operands.
  const Form* find(const Function& function, const Instruction& instruction) const;

 private:
  std::unordered_map<std::string, std::vector<Form>> forms_;
};

// All forms, made once.
const FormTable& form_table();

// The name under which a form stands in the table. Of loads, stores and atomic operations the
// words that change nothing here are gone (hints about caches, scopes), and the others have one
// order: semantics, space, the rest.
std::string canonical_name(const std::string& form);

// One file each.
void add_bits(FormTable& table);
void add_bulk_copies(FormTable& table);
void add_comparisons(FormTable& table);
void add_conversions(FormTable& table);
void add_copies(FormTable& table);
void add_flow(FormTable& table);
void add_floating(FormTable& table);
void add_halves(FormTable& table);
void add_integers(FormTable& table);
void add_map_changes(FormTable& table);
void add_matrices(FormTable& table);
void add_memory(FormTable& table);
void add_moves(FormTable& table);
void add_pairs(FormTable& table);
void add_signals(FormTable& table);
void add_strong(FormTable& table);
void add_tensor_memory(FormTable& table);
void add_warps(FormTable& table);

}  // namespace tw::vgpu::ptx
