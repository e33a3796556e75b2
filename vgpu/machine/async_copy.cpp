// cp.async: small copies from global to shared memory through the generic proxy. They land on their
// own; the thread learns of it by wait_group, others by an mbarrier at which the copies arrive.
#include "vgpu/machine/async_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "vgpu/machine/copy_operation.h"
#include "vgpu/machine/global_access.h"
#include "vgpu/machine/global_race.h"
#include "vgpu/machine/mbarrier_model.h"
#include "vgpu/machine/timed_wait.h"

namespace tw::vgpu {
namespace {

constexpr const char* instruction = "cp.async";
constexpr int poison = 0xFF;  // NaN in every floating-point format

void check_arguments(Engine& machine, const Thread& thread, SharedAddress destination,
                     const void* source, unsigned bytes, unsigned source_bytes) {
  const bool aligned =
      destination % bytes == 0 && reinterpret_cast<std::uintptr_t>(source) % bytes == 0;
  if (!aligned && (source_bytes != 0 || destination % bytes != 0)) {
    machine.report(Checker::Alignment, -1, instruction, [&] {
      return fmt::format(
          "The {} copies {} bytes by cp.async from {} to shared address {:#x}: both must be "
          "multiples of {}.",
          who(thread), bytes, source, destination, bytes);
    });
    machine.abandon();
  }
  if (source_bytes <= bytes) return;
  machine.report(Checker::Bounds, -1, instruction, [&] {
    return fmt::format("The {} asks cp.async for {} source bytes of {}.", who(thread), source_bytes,
                       bytes);
  });
  machine.abandon();
}

void land_copy(Engine& machine, const CopyBatch& batch, const CopyBatch::Copy& copy) {
  std::byte* destination = batch.issuer->cta->shared.get() + copy.offset;
  const bool reads = copy.source_bytes != 0 &&
                     may_read_global(machine, *batch.issuer, copy.source, copy.source_bytes);
  std::memset(destination, 0, copy.bytes);
  if (reads) std::memcpy(destination, copy.source, copy.source_bytes);
}

void arrive_if_landed(Engine& machine, Thread& thread, std::uint64_t time) {
  auto& arrivals = thread.copy_arrivals;
  while (!arrivals.empty() && thread.copies.have_landed(arrivals.front().epoch)) {
    const CopyArrival arrival = arrivals.front();
    arrivals.pop_front();
    arrive_for_copies(machine, thread, *arrival.barrier, arrival.epoch, time);
  }
}

}  // namespace

void land_thread_copies(Engine& machine, void* operation) {
  const std::unique_ptr<CopyBatch> batch(static_cast<CopyBatch*>(operation));
  Thread& thread = *batch->issuer;
  if (thread.open_copies == batch.get()) thread.open_copies = nullptr;
  for (const CopyBatch::Copy& copy : batch->copies) land_copy(machine, *batch, copy);
  thread.copies.landed(batch->epoch, static_cast<unsigned>(batch->copies.size()));
  arrive_if_landed(machine, thread, batch->done_time);
  if (thread.wait.kind == WaitKind::CopyGroup &&
      thread.copies.have_landed(static_cast<Epoch>(thread.wait.detail))) {
    machine.wake(thread, batch->done_time);
  }
}

void discard_thread_copies(void* operation) { delete static_cast<CopyBatch*>(operation); }

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void cp_async(SharedAddress destination, const void* source, unsigned bytes,
              unsigned source_bytes) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const SharedPlace place = machine.resolve_own(destination, bytes, instruction);
  check_arguments(machine, thread, destination, source, bytes, source_bytes);
  if (source_bytes > 0) touch_global(machine, thread, source);
  const Epoch epoch = thread.copies.open_epoch();
  if (Shadow* shadow = thread.cta->shadow.get()) {
    const Slot agent = machine.order.agent(*thread.cta->cluster, AgentKind::ThreadCopies, &thread,
                                           thread.copy_agent);
    Access access = Order::generic(thread, instruction);
    access.slot = agent;
    access.epoch = epoch;
    shadow->write(machine, place.offset, bytes, access);
    shadow->set_step(place.offset, bytes, thread.step);
    GlobalAccess source_access{access};
    judge_global_read(machine, source, source_bytes, source_access);
  }
  std::memset(place.data(), poison, bytes);
  thread.copies.issue();
  // What one thread issues without a landing between lands together.
  const bool opens = thread.open_copies == nullptr || thread.open_copies->epoch != epoch;
  if (opens) thread.open_copies = new CopyBatch{&thread, epoch, 0, {}};
  CopyBatch& batch = *thread.open_copies;
  batch.copies.push_back({place.offset, bytes, source_bytes, source});
  batch.done_time = book_copy_engine(*thread.cta->multiprocessor, thread.time, bytes);
  if (opens) machine.submit(LandingKind::ThreadCopies, *thread.cta->cluster, &batch);
}

void cp_async_commit_group() { engine().enter().copies.commit(); }

void cp_async_wait_group(unsigned pending) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const Epoch epoch = thread.copies.epoch_to_wait_for(pending);
  if (epoch == 0) return;
  const TimedWait timed(machine, "cp.async");
  if (!thread.copies.have_landed(epoch)) {
    WaitList alone;
    machine.sleep(alone, {WaitKind::CopyGroup, nullptr, epoch});
  }
  thread.copies.waited(epoch);
  if (thread.copy_agent != no_slot) {
    machine.order.learn(thread, thread.copies_done, thread.copy_agent, thread.copies.known_done());
  }
}

void cp_async_mbarrier_arrive_noinc(SharedAddress address) {
  constexpr const char* arrive = "cp.async.mbarrier.arrive";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const auto place = machine.resolve_own(address, 8, arrive);
  Mbarrier& barrier = usable_mbarrier(machine, place, BarrierUse::Threads, arrive);
  thread.copy_arrivals.push_back({&barrier, thread.copies.announce()});
  arrive_if_landed(machine, thread, thread.time);
}

}  // namespace tw::model
