// Registers of A that products in flight read: they belong to the tensor core until the thread has
// waited for these products.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tw::vgpu {

class Engine;
struct Thread;

// The registers of A that one thread gave to one wgmma.
struct OperandRegisters {
  static constexpr unsigned count = 4;
  const std::uint32_t* registers;
  std::array<std::uint32_t, count> values;  // when it was issued
  std::uint64_t op;                         // the number of the product
};

// The thread issues a product that reads these registers.
void lend_operand(Engine& machine, Thread& thread, const std::uint32_t* registers);
// The thread is about to touch these registers.
void check_operands_lent(Engine& machine, Thread& thread, const std::uint32_t* registers,
                         unsigned count);
// The thread has waited for products: what they read must still stand in its registers.
void return_operands(Engine& machine, Thread& thread);

}  // namespace tw::vgpu
