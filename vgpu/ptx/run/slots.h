// Where the registers of a function, its constants and the addresses of its variables stand in the
// words of a thread.
#pragma once

#include <map>
#include <vector>

#include "vgpu/ptx/program.h"
#include "vgpu/ptx/run/frame.h"

namespace tw::vgpu::ptx {

// Words that are filled when a thread starts: two each.
struct Filled {
  Slot slot;
  Operand what;  // a Special, or the address of a Variable or Global
};

class Slots {
 public:
  explicit Slots(const Function& function);

  // Puts the registers of one vector, in their order, one behind the other, unless another vector
  // has put them elsewhere: what writes them later knows where they begin. `is_owned`: products
  // own them meanwhile.
  void keep_together(const std::vector<Operand>& parts, bool is_owned);
  // The vector stands together.
  bool are_together(const std::vector<Operand>& parts);
  // A product may own this register.
  bool is_owned(Slot slot) const { return slot < owned_.size() && owned_[slot]; }

  Slot of(const Operand& operand);
  bool is_wide(const Operand& operand) const;

  // What a thread's words begin as.
  const std::vector<std::uint32_t>& image() const { return image_; }
  const std::vector<Filled>& filled() const { return filled_; }

 private:
  Slot take(unsigned words, std::uint32_t value);
  Slot of_register(std::uint32_t number);
  Slot constant(std::uint64_t value);

  const Function& function_;
  std::vector<Slot> registers_;
  std::vector<std::uint32_t> image_;
  std::vector<bool> owned_;
  std::vector<Filled> filled_;
  std::map<std::uint64_t, Slot> constants_;
  Slot sink_;
};

}  // namespace tw::vgpu::ptx
