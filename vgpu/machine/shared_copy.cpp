#include "vgpu/machine/shared_copy.h"

#include <fmt/format.h>

#include <cstring>

#include "vgpu/machine/mbarrier_model.h"

namespace tw::vgpu {
namespace {

constexpr int poison = 0xFF;  // NaN in every floating-point format

}  // namespace

// The source is read when the copy lands: who changes it before has a race.
void land_shared_copy(Engine& machine, void* operation) {
  const std::unique_ptr<SharedCopyOperation> copy(static_cast<SharedCopyOperation*>(operation));
  if (copy->to->exited() || copy->from->exited()) {
    machine.report_about(copy->issuer->role, Checker::InFlightAtExit, -1, "cp.async.bulk", [&] {
      return fmt::format(
          "A cp.async.bulk of the {} from CTA {} lands in CTA {}, and CTA {} has "
          "ended.",
          who(*copy->issuer), copy->from->index, copy->to->index,
          (copy->to->exited() ? copy->to : copy->from)->index);
    });
  }
  std::byte* const into = copy->to->shared.get() + copy->to_offset;
  const std::byte* const source = copy->from->shared.get() + copy->from_offset;
  if (copy->reduce == nullptr) {
    std::memmove(into, source, copy->bytes);
  } else {
    copy->reduce(into, source, copy->bytes);
  }
  complete_transaction(machine, *copy->barrier, copy->bytes, copy->done_time);
}

void discard_shared_copy(void* operation) { delete static_cast<SharedCopyOperation*>(operation); }

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void bulk_copy(SharedAddress destination, SharedAddress source, std::uint32_t bytes,
               SharedAddress signal, Reduce reduce) {
  const char* const instruction = reduce == nullptr ? "cp.async.bulk" : "cp.reduce.async.bulk";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  check_line(machine, destination, source, bytes, instruction);
  if (bytes == 0) return;
  const SharedPlace from = machine.resolve_own(source, bytes, instruction);
  const SharedPlace to = machine.resolve(destination, bytes, instruction);
  const SharedPlace barrier_place = machine.resolve(signal, 8, instruction);
  if (to.cta != barrier_place.cta) {
    machine.report(Checker::Bounds, -1, instruction, [&] {
      return fmt::format(
          "The {} copies to the CTA of rank {} and signals a barrier of rank {}; a copy signals "
          "where it lands.",
          who(thread), to.cta->rank, barrier_place.cta->rank);
    });
    machine.abandon();
  }
  Mbarrier& barrier = usable_mbarrier(machine, barrier_place, BarrierUse::Copies, instruction);
  ++barrier.copies_in_flight;
  barrier.copying_role = thread.role;
  if (machine.order.enabled()) {
    const Slot agent =
        machine.order.agent(*to.cta->cluster, AgentKind::Copies, &barrier, barrier.copies);
    Access access = Order::async(thread, instruction, agent, barrier.copies_epoch);
    // Whoever waits for the barrier knows that the source was read, too.
    from.cta->shadow->read(machine, from.offset, bytes, access);
    to.cta->shadow->write(machine, to.offset, bytes, access);
    to.cta->shadow->set_step(to.offset, bytes, thread.step);
  }
  if (reduce == nullptr) std::memset(to.data(), poison, bytes);
  machine.submit(LandingKind::SharedCopy, *to.cta->cluster,
                 new SharedCopyOperation{
                     from.cta, to.cta, from.offset, to.offset, bytes, reduce, &barrier, &thread,
                     book_copy_engine(*to.cta->multiprocessor, thread.time, bytes)});
}

}  // namespace tw::model
