#include "vgpu/machine/operand_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/machine/accumulator.h"

namespace tw::vgpu {
namespace {

void report(Engine& machine, Thread& thread, const OperandRegisters& operand, const char* what) {
  machine.report(Checker::OperandInFlight, -1, "fragment", [&] {
    return fmt::format(
        "The {} {} registers of A that wgmma number {} of its warpgroup still reads: "
        "wgmma.wait_group is missing, or leaves too many groups pending.",
        who(thread), what, operand.op);
  });
  thread.wgmma_missed_ops = std::max(thread.wgmma_missed_ops, operand.op + 1);
}

}  // namespace

void lend_operand(Engine& machine, Thread& thread, const std::uint32_t* registers) {
  constexpr unsigned count = OperandRegisters::count;
  check_fence(machine, thread, registers, count);
  check_accumulators(machine, thread, registers, count);
  OperandRegisters& lent = thread.wgmma_operands.emplace_back();
  lent.registers = registers;
  std::copy_n(registers, count, lent.values.begin());
  lent.op = thread.wgmma_issued;
}

void check_operands_lent(Engine& machine, Thread& thread, const std::uint32_t* registers,
                         unsigned count) {
  for (const OperandRegisters& lent : thread.wgmma_operands) {
    if (lent.registers < registers + count &&
        registers < lent.registers + OperandRegisters::count) {
      return report(machine, thread, lent, "touches");
    }
  }
}

void return_operands(Engine& machine, Thread& thread) {
  const auto is_done = [&](const OperandRegisters& lent) {
    if (lent.op >= thread.wgmma_waited_ops) return false;
    if (std::memcmp(lent.registers, lent.values.data(), sizeof lent.values) != 0) {
      report(machine, thread, lent, "has overwritten");
    }
    return true;
  };
  std::erase_if(thread.wgmma_operands, is_done);
}

}  // namespace tw::vgpu
