// wgmma: 128 threads issue a product; the tensor core lands products of a warpgroup in order.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/data/matrix_descriptor.h"
#include "vgpu/machine/accumulator.h"
#include "vgpu/machine/exact_products.h"
#include "vgpu/machine/swizzle_check.h"
#include "vgpu/machine/timed_wait.h"
#include "vgpu/machine/warp_collective.h"

namespace tw::vgpu {
namespace {

constexpr const char* instruction = "wgmma";
constexpr std::uint64_t clocks_per_column_pair =
    1;  // m64n256 of any type keeps the tensor core 128 clocks
constexpr std::uint64_t clock_picoseconds = 588;  // 1.7 GHz
constexpr std::uint64_t latency_picoseconds = 20'000;

WgmmaOp& new_op(Warpgroup& warpgroup) {
  if (warpgroup.spare_ops.empty()) warpgroup.spare_ops.push_back(std::make_unique<WgmmaOp>());
  warpgroup.ops.push_back(std::move(warpgroup.spare_ops.back()));
  warpgroup.spare_ops.pop_back();
  return *warpgroup.ops.back();
}

std::string text_of(const WgmmaArguments& arguments) {
  const WgmmaShape& shape = arguments.shape;
  return fmt::format("{} x {}, n {}, descriptors {:#x} and {:#x}, accumulate {}, group {}",
                     name_of(shape.a), name_of(shape.b), shape.n, arguments.a, arguments.b,
                     arguments.accumulate, arguments.group);
}

// The product that the running thread issues now: the first thread makes it, the others must agree.
WgmmaOp& join_op(Engine& machine, Thread& thread, Warpgroup& warpgroup,
                 const WgmmaArguments& arguments, const std::uint32_t* fragment) {
  const std::uint64_t queued = thread.wgmma_issued - warpgroup.landed_ops;
  if (queued == warpgroup.ops.size()) {
    WgmmaOp& op = new_op(warpgroup);
    op.arguments = arguments;
    op.issued_threads = 0;
    op.accumulator = &accumulator_for(warpgroup, position_of(thread), fragment, arguments.shape.n);
    op.step = thread.step;
    op.time = 0;
    op.common.clear();
  }
  WgmmaOp& op = *warpgroup.ops[queued];
  if (op.arguments == arguments) return op;
  machine.report(Checker::Divergence, -1, instruction, [&] {
    return fmt::format(
        "The {} issues wgmma number {} of its warpgroup with {}; another thread issued it with {}.",
        who(thread), thread.wgmma_issued, text_of(arguments), text_of(op.arguments));
  });
  machine.abandon();
}

void check_step(Engine& machine, const Thread& thread, const WgmmaOp& op, std::uint32_t offset) {
  const Cta& cta = *thread.cta;
  const std::uint64_t found = cta.shadow->step_at(offset);
  if (op.step == no_step || found == no_step || op.step == found) return;
  machine.report(Checker::WrongStep, place_stage(cta, offset), place_subject(cta, offset), [&] {
    return fmt::format("The {} multiplies {} expecting k-tile {}, but k-tile {} was loaded there.",
                       who(thread), place_name(cta, offset), op.step, found);
  });
}

// Whoever builds a descriptor of an address must take off the CTA's rank, which stands from bit 24
// on and would join the leading byte offset: that then is no multiple of a pattern of 1024 bytes.
void check_without_rank(Engine& machine, const Thread& thread, std::uint64_t bits) {
  constexpr unsigned leading_shift = 16, pattern_units = 1024 / 16;
  constexpr unsigned rank_shift = window_rank_shift - 4 - leading_shift;
  const std::uint64_t leading = bits >> leading_shift & 0x3fff;
  const bool ends_in_rank = leading % (16 << rank_shift) == thread.cta->rank << rank_shift;
  if (leading % pattern_units == 0 || !ends_in_rank) return;
  machine.report(Checker::Bounds, -1, "rank", [&] {
    return fmt::format(
        "The {} gives wgmma the descriptor {:#x}, in whose leading byte offset stands its CTA's "
        "rank {}: of an address in a cluster only the lower 18 bits belong in a descriptor.",
        who(thread), bits, thread.cta->rank);
  });
  machine.abandon();
}

// Finds the chunks of an operand, and checks that they may be read now.
void find_operand(Engine& machine, const Thread& thread, const WgmmaOp& op, Access& access,
                  std::uint64_t bits, bool transposed, unsigned rows, const std::byte** chunks) {
  const MatrixDescriptor descriptor = decode_matrix_descriptor(bits);
  if (transposed && descriptor.swizzle == MapSwizzle::Bytes128) {
    check_without_rank(machine, thread, bits);
  }
  check_operand_pattern(machine, *thread.cta, descriptor.start, descriptor.swizzle, instruction);
  for (unsigned index = 0; index < 2 * rows; ++index) {
    // A descriptor's addresses are of the own CTA, whatever its rank.
    const SharedAddress address =
        thread.cta->rank << window_rank_shift | chunk_at(descriptor, transposed, index);
    const SharedPlace place = machine.resolve_own(address, 16, instruction);
    chunks[index] = place.data();
    if (place.cta->shadow == nullptr) continue;
    place.cta->shadow->read(machine, place.offset, 16, access);
    check_step(machine, thread, op, place.offset);
  }
}

// The read of the operands: on behalf of all threads, with what all of them know.
Access operand_access(Engine& machine, const Thread& thread, Warpgroup& warpgroup,
                      const ClockRef& known, std::uint64_t group) {
  if (!machine.order.enabled()) return {};
  const Slot agent =
      machine.order.agent(*thread.cta->cluster, AgentKind::Products, &warpgroup, warpgroup.agent);
  Access access = Order::async(thread, instruction, agent, static_cast<Epoch>(group + 1));
  access.known = known.get();
  access.self = no_slot;
  return access;
}

void complete_issue(Engine& machine, Thread& thread, Warpgroup& warpgroup, WgmmaOp& op) {
  const ClockRef known = machine.order.enabled() ? op.common.get(machine.order.pool) : ClockRef();
  Access access = operand_access(machine, thread, warpgroup, known, op.arguments.group);
  const WgmmaShape& shape = op.arguments.shape;
  op.operands.a_from_registers = op.arguments.a_from_registers;
  if (op.arguments.a_from_registers) {
    for (unsigned t = 0; t < warpgroup_threads; ++t) {
      op.operands.a_registers[t] = op.a_registers[t].data();
    }
  } else {
    find_operand(machine, thread, op, access, op.arguments.a, shape.a_transposed != 0, 64,
                 op.operands.a_chunks);
  }
  find_operand(machine, thread, op, access, op.arguments.b, shape.b_transposed != 0, shape.n,
               op.operands.b_chunks);
  std::uint64_t& free = thread.cta->multiprocessor->tensor_core_free;
  free = std::max(free, op.time) + shape.n / 2 * clocks_per_column_pair * clock_picoseconds;
  op.time = free + latency_picoseconds;
  machine.submit(LandingKind::Wgmma, *thread.cta->cluster, &warpgroup);
}

void wake_waiters(Engine& machine, Warpgroup& warpgroup, std::uint64_t time) {
  WaitList waiting = std::exchange(warpgroup.waiters, {});
  for (Thread* thread = waiting.first; thread != nullptr;) {
    Thread* next = std::exchange(thread->next_waiter, nullptr);
    if (thread->wait.detail <= warpgroup.landed_ops) {
      machine.wake(*thread, time);
    } else {
      WaitList& list = warpgroup.waiters;
      (list.first == nullptr ? list.first : list.last->next_waiter) = thread;
      list.last = thread;
    }
    thread = next;
  }
}

}  // namespace

void land_wgmma(Engine& machine, void* operation) {
  Warpgroup& warpgroup = *static_cast<Warpgroup*>(operation);
  auto op = std::move(warpgroup.ops.front());
  warpgroup.ops.pop_front();
  std::uint32_t* fragments[warpgroup_threads];
  for (unsigned t = 0; t < warpgroup_threads; ++t) fragments[t] = op->accumulator->values_of(t);
  const auto multiply = ExactProducts::are_asked_for() ? wgmma_m64_exact : wgmma_m64;
  multiply(op->arguments.shape, fragments, op->operands, op->arguments.accumulate);
  ++warpgroup.landed_ops;
  warpgroup.landed_times.push_back(op->time);
  wake_waiters(machine, warpgroup, op->time);
  warpgroup.spare_ops.push_back(std::move(op));
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void wgmma(const WgmmaShape& shape, void* registers, std::uint64_t a,
           const std::uint32_t* a_registers, std::uint64_t b, bool accumulate) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  Warpgroup& warpgroup = thread.cta->warpgroup_of(thread);
  auto* fragment = static_cast<std::uint32_t*>(registers);
  if (warpgroup.threads != warpgroup_threads || !shape.is_legal()) {
    machine.report(Checker::Divergence, -1, "wgmma", [&] {
      return fmt::format(
          "The {} issues a wgmma of {} x {} with n {} in a warpgroup of {} threads; it takes 128 "
          "threads, types that go together, and an n of 8 to 256 in steps of 8 (s8: of 16).",
          who(thread), name_of(shape.a), name_of(shape.b), shape.n, warpgroup.threads);
    });
    machine.abandon();
  }
  require_whole_warp(machine, thread, "wgmma");
  const WgmmaArguments arguments{shape, a_registers != nullptr, accumulate, a,
                                 b,     thread.wgmma_committed};
  WgmmaOp& op = join_op(machine, thread, warpgroup, arguments, fragment);
  if (a_registers != nullptr) {
    lend_operand(machine, thread, a_registers);
    std::copy_n(a_registers, 4, op.a_registers[position_of(thread)].begin());
  }
  take_registers(machine, thread, warpgroup, op, fragment);
  if (machine.order.enabled()) op.common.add(thread.view);
  ++thread.wgmma_issued;
  op.time = std::max(op.time, thread.time);
  if (++op.issued_threads == warpgroup_threads) {
    machine.refusing([&] { complete_issue(machine, thread, warpgroup, op); });
  }
}

void wgmma_fence() {
  Thread& thread = engine().enter();
  thread.wgmma_fenced = true;
  thread.touched.clear();
}

void wgmma_commit_group() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  Warpgroup& warpgroup = thread.cta->warpgroup_of(thread);
  if (thread.wgmma_committed == warpgroup.group_ends.size()) {
    warpgroup.group_ends.push_back(thread.wgmma_issued);
  } else if (warpgroup.group_ends[thread.wgmma_committed] != thread.wgmma_issued) {
    machine.report(Checker::Divergence, -1, "wgmma.commit_group", [&] {
      return fmt::format(
          "The {} commits wgmma group {} after {} products, another thread of its warpgroup after "
          "{}.",
          who(thread), thread.wgmma_committed, thread.wgmma_issued,
          warpgroup.group_ends[thread.wgmma_committed]);
    });
    machine.abandon();
  }
  ++thread.wgmma_committed;
}

void wgmma_wait_group(unsigned pending) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  if (thread.wgmma_committed <= pending) return;
  Warpgroup& warpgroup = thread.cta->warpgroup_of(thread);
  const std::uint64_t ops = warpgroup.group_ends[thread.wgmma_committed - pending - 1];
  const TimedWait timed(machine, "wgmma");
  if (warpgroup.landed_ops < ops) {
    machine.sleep(warpgroup.waiters, {WaitKind::WgmmaGroup, &warpgroup, ops});
  }
  if (ops > 0) thread.time = std::max(thread.time, warpgroup.landed_times[ops - 1]);
  thread.wgmma_waited_ops = std::max(thread.wgmma_waited_ops, ops);
  return_registers(thread, warpgroup);
  return_operands(machine, thread);
  if (warpgroup.agent != no_slot) {
    const auto groups = static_cast<Epoch>(thread.wgmma_committed - pending);
    machine.order.learn(thread, warpgroup.done, warpgroup.agent, groups);
  }
}

}  // namespace tw::model
