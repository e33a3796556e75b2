#include "vgpu/machine/accumulator.h"

#include <fmt/format.h>

#include <cstring>

namespace tw::vgpu {
namespace {

// What registers hold while a product owns them: a NaN as float, a large negative number as int32.
constexpr std::uint32_t poison = 0xffc0'0000;

bool overlap(const std::uint32_t* left, unsigned left_count, const std::uint32_t* right,
             unsigned right_count) {
  return left < right + right_count && right < left + left_count;
}

Accumulator& new_accumulator(Warpgroup& warpgroup, unsigned n) {
  for (auto& known : warpgroup.accumulators) {
    if (known->owned_threads == 0) {
      known->n = n;
      known->values.resize(warpgroup_threads * (n / 2));
      return *known;
    }
  }
  Accumulator& fresh = *warpgroup.accumulators.emplace_back(std::make_unique<Accumulator>());
  fresh.n = n;
  fresh.values.resize(warpgroup_threads * (n / 2));
  return fresh;
}

void check_defined(Engine& machine, const Thread& thread, const std::uint32_t* fragment,
                   unsigned count) {
  if (thread.defined.may_contain(fragment, count)) return;
  machine.report(Checker::Uninitialised, -1, "fragment", [&] {
    return fmt::format(
        "The {} lets a wgmma add to accumulator registers that hold nothing yet: the first product "
        "must not accumulate.",
        who(thread));
  });
}

}  // namespace

void check_fence(Engine& machine, const Thread& thread, const std::uint32_t* fragment,
                 unsigned count) {
  if (thread.wgmma_fenced && !thread.touched.contains(fragment, count)) return;
  machine.report(Checker::MissingWgmmaFence, -1, "wgmma", [&] {
    return fmt::format("The {} issues a wgmma on registers that it {} without wgmma.fence.",
                       who(thread),
                       thread.wgmma_fenced ? "touched before" : "never ordered before it");
  });
}

Accumulator& accumulator_for(Warpgroup& warpgroup, unsigned position, const std::uint32_t* fragment,
                             unsigned n) {
  for (auto& known : warpgroup.accumulators) {
    if (known->registers[position] == fragment && known->n == n) return *known;
  }
  return new_accumulator(warpgroup, n);
}

void take_registers(Engine& machine, Thread& thread, Warpgroup& warpgroup, WgmmaOp& op,
                    std::uint32_t* fragment) {
  const unsigned position = position_of(thread);
  const unsigned count = op.arguments.shape.n / 2;
  for (const auto& other : warpgroup.accumulators) {
    if (other->registers[position] == nullptr || other.get() == op.accumulator) continue;
    if (!overlap(other->registers[position], other->n / 2, fragment, count)) continue;
    machine.report(Checker::AccumulatorInFlight, -1, "wgmma", [&] {
      return fmt::format(
          "The {} issues a wgmma with n {} on registers that another in flight with n {} owns: "
          "without a wait, only products of the same shape on the same registers may follow.",
          who(thread), op.arguments.shape.n, other->n);
    });
    machine.abandon();
  }
  Accumulator& accumulator = *op.accumulator;
  accumulator.last_op[position] = thread.wgmma_issued;
  if (accumulator.registers[position] == fragment) return;
  if (accumulator.registers[position] != nullptr) {
    machine.report(Checker::Divergence, -1, "wgmma", [&] {
      return fmt::format(
          "The {} issues wgmma number {} on other registers than the rest of its warpgroup.",
          who(thread), thread.wgmma_issued);
    });
    machine.abandon();
  }
  check_fence(machine, thread, fragment, count);
  if (op.arguments.accumulate) check_defined(machine, thread, fragment, count);
  thread.defined.insert(fragment, count);
  accumulator.registers[position] = fragment;
  ++accumulator.owned_threads;
  std::memcpy(accumulator.values_of(position), fragment, count * sizeof poison);
  for (unsigned i = 0; i < count; ++i) std::memcpy(fragment + i, &poison, sizeof poison);
}

void return_registers(Thread& thread, Warpgroup& warpgroup) {
  const unsigned position = position_of(thread);
  for (auto& accumulator : warpgroup.accumulators) {
    std::uint32_t* registers = accumulator->registers[position];
    if (registers == nullptr || accumulator->last_op[position] >= thread.wgmma_waited_ops) continue;
    std::memcpy(registers, accumulator->values_of(position), accumulator->n / 2 * sizeof poison);
    accumulator->registers[position] = nullptr;
    --accumulator->owned_threads;
  }
}

void check_accumulators(Engine& machine, Thread& thread, const std::uint32_t* fragment,
                        unsigned count) {
  const unsigned position = position_of(thread);
  for (const auto& accumulator : thread.cta->warpgroup_of(thread).accumulators) {
    const std::uint32_t* registers = accumulator->registers[position];
    if (registers == nullptr) continue;
    if (!overlap(registers, accumulator->n / 2, fragment, count)) continue;
    machine.report(Checker::AccumulatorInFlight, -1, "fragment", [&] {
      return fmt::format(
          "The {} touches accumulator registers that wgmma number {} of its warpgroup still owns: "
          "wgmma.wait_group is missing, or leaves too many groups pending.",
          who(thread), accumulator->last_op[position]);
    });
    thread.wgmma_missed_ops = accumulator->last_op[position] + 1;
  }
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void fragment_access(const void* registers_of_thread, unsigned count) {
  const auto* fragment = static_cast<const std::uint32_t*>(registers_of_thread);
  Engine& machine = engine();
  Thread& thread = machine.enter();
  thread.touched.insert(fragment, count);
  thread.defined.insert(fragment, count);
  check_accumulators(machine, thread, fragment, count);
  check_operands_lent(machine, thread, fragment, count);
}

}  // namespace tw::model
