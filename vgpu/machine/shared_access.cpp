// Loads and stores of shared memory by window address, in the own CTA and across the cluster, and
// stores that land on their own.
#include "vgpu/machine/shared_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "vgpu/machine/copy_operation.h"
#include "vgpu/machine/mbarrier_model.h"

namespace tw::vgpu {
namespace {

constexpr int poison = 0xFF;  // NaN in every floating-point format

void check_aligned(Engine& machine, SharedAddress address, unsigned bytes,
                   const char* instruction) {
  if (address % bytes == 0) return;
  machine.report(Checker::Alignment, -1, instruction, [&] {
    return fmt::format("The {} gives {} the address {:#x} for {} bytes; it must be a multiple.",
                       who(machine.current()), instruction, address, bytes);
  });
  machine.abandon();
}

// The place in whatever CTA of the cluster, which must still be there.
SharedPlace cluster_place(Engine& machine, Thread& thread, SharedAddress address, unsigned bytes,
                          const char* instruction) {
  check_aligned(machine, address, bytes, instruction);
  const SharedPlace place = machine.resolve(address, bytes, instruction);
  if (place.cta == thread.cta) return place;
  if (place.cta->exited()) {
    machine.report(
        Checker::InFlightAtExit, place_stage(*place.cta, place.offset), instruction, [&] {
          return fmt::format("The {} touches {} by {}, but that CTA has ended.", who(thread),
                             place_name(*place.cta, place.offset), instruction);
        });
    machine.abandon();
  }
  place.cta->peer_accesses[thread.view.self] = {&thread, thread.view.epoch,
                                                thread.cta->cluster->barrier.phase};
  return place;
}

SharedPlace own_place(Engine& machine, SharedAddress address, unsigned bytes,
                      const char* instruction) {
  check_aligned(machine, address, bytes, instruction);
  return machine.resolve_own(address, bytes, instruction);
}

void load(Engine& machine, const Thread& thread, SharedPlace place, void* value, unsigned bytes,
          const char* what) {
  machine.step.shared(TouchKind::Reads, place.cta->index, place.offset, bytes);
  if (Shadow* shadow = place.cta->shadow.get()) {
    Access access = Order::generic(thread, what);
    shadow->read(machine, place.offset, bytes, access);
  }
  std::memcpy(value, place.data(), bytes);
}

void store(Engine& machine, const Thread& thread, SharedPlace place, const void* value,
           unsigned bytes, const char* what) {
  machine.step.shared(TouchKind::Writes, place.cta->index, place.offset, bytes);
  if (Shadow* shadow = place.cta->shadow.get()) {
    Access access = Order::generic(thread, what);
    access.same_bytes = machine.options.relaxed && std::memcmp(place.data(), value, bytes) == 0;
    shadow->write(machine, place.offset, bytes, access);
    shadow->set_step(place.offset, bytes, no_step);
  }
  std::memcpy(place.data(), value, bytes);
}

}  // namespace

void land_store_async(Engine& machine, void* operation) {
  const std::unique_ptr<StoreAsyncOperation> store(static_cast<StoreAsyncOperation*>(operation));
  machine.step.tells();
  machine.step.shared(TouchKind::Writes, store->cta->index, store->offset, store->bytes);
  std::memcpy(store->cta->shared.get() + store->offset, store->value, store->bytes);
  complete_transaction(machine, *store->barrier, store->bytes, store->done_time);
}

void discard_store_async(void* operation) { delete static_cast<StoreAsyncOperation*>(operation); }

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void load_shared(void* value, SharedAddress address, unsigned bytes) {
  Engine& machine = engine();
  const Thread& thread = machine.enter();
  machine.step.tells();
  load(machine, thread, own_place(machine, address, bytes, "ld.shared"), value, bytes, "a load");
}

void store_shared(SharedAddress address, const void* value, unsigned bytes) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  const SharedPlace place = own_place(machine, address, bytes, "st.shared");
  store(machine, thread, place, value, bytes, "a store");
  if (thread.reads.stored_at == LaneReads::nowhere) thread.reads.stored_at = place.offset;
}

void load_cluster(void* value, SharedAddress address, unsigned bytes) {
  constexpr const char* instruction = "ld.shared::cluster";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  load(machine, thread, cluster_place(machine, thread, address, bytes, instruction), value, bytes,
       instruction);
}

void store_cluster(SharedAddress address, const void* value, unsigned bytes) {
  constexpr const char* instruction = "st.shared::cluster";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  store(machine, thread, cluster_place(machine, thread, address, bytes, instruction), value, bytes,
        instruction);
}

void store_async(SharedAddress address, const void* value, unsigned bytes, SharedAddress signal) {
  constexpr const char* instruction = "st.async";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  check_aligned(machine, address, bytes, instruction);
  const SharedPlace place = machine.resolve(address, bytes, instruction);
  const SharedPlace barrier_place = machine.resolve(signal, 8, instruction);
  if (place.cta != barrier_place.cta) {
    machine.report(Checker::Bounds, -1, instruction, [&] {
      return fmt::format(
          "The {} stores to the CTA of rank {} and signals a barrier of rank {}; st.async signals "
          "where it lands.",
          who(thread), place.cta->rank, barrier_place.cta->rank);
    });
    machine.abandon();
  }
  Mbarrier& barrier = usable_mbarrier(machine, barrier_place, BarrierUse::Threads, instruction);
  machine.step.shared(TouchKind::Writes, barrier.cta->index, barrier.offset, 8);
  machine.step.shared(TouchKind::Writes, place.cta->index, place.offset, bytes);
  auto* operation = new StoreAsyncOperation{place.cta, place.offset, bytes, &barrier, 0, {}};
  std::memcpy(operation->value, value, bytes);
  operation->done_time = book_copy_engine(*place.cta->multiprocessor, thread.time, bytes);
  ++barrier.copies_in_flight;
  barrier.copying_role = thread.role;
  if (Shadow* shadow = place.cta->shadow.get()) {
    Access access = Order::generic(thread, instruction);
    access.slot =
        machine.order.agent(*place.cta->cluster, AgentKind::Copies, &barrier, barrier.copies);
    access.epoch = barrier.copies_epoch;
    shadow->write(machine, place.offset, bytes, access);
    shadow->set_step(place.offset, bytes, no_step);
  }
  std::memset(place.data(), poison, bytes);
  machine.submit(LandingKind::StoreAsync, *place.cta->cluster, operation);
}

}  // namespace tw::model
