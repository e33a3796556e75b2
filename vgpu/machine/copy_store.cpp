// TMA stores: shared to global memory, tracked by the bulk groups of the issuing thread.
#include <algorithm>
#include <cstring>

#include "vgpu/machine/copy_operation.h"
#include "vgpu/machine/engine.h"
#include "vgpu/machine/global_access.h"
#include "vgpu/machine/global_race.h"
#include "vgpu/machine/timed_wait.h"

namespace tw::vgpu {
namespace {

void wake_if_done(Engine& machine, Thread& thread, std::uint64_t time) {
  if (thread.wait.kind != WaitKind::BulkGroup) return;
  if (thread.bulk.done(thread.wait.detail)) machine.wake(thread, time);
}

// Judged when it lands, for only then its bytes are known; but by what the issuer knew.
GlobalAccess write_of(Engine& machine, const StoreOperation& store) {
  if (!machine.order.enabled()) return {};
  Thread& thread = *store.issuer;
  const Slot agent = machine.order.agent(*thread.cta->cluster, AgentKind::StoreWrites, &thread,
                                         thread.bulk_writer);
  Access access = Order::async(thread, "TMA store", agent, static_cast<Epoch>(store.group + 1));
  access.known = store.known.get();  // includes the issuer's own accesses before the store
  access.self = no_slot;
  access.site = store.site;
  return {access};
}

}  // namespace

void land_store_read(Engine& machine, void* operation) {
  auto* store = static_cast<StoreOperation*>(operation);
  Thread& thread = *store->issuer;
  const std::byte* source = thread.cta->shared.get() + store->offset;
  store->data.assign(source, source + shared_box_bytes(store->map));
  thread.bulk.landed_read(store->group);
  wake_if_done(machine, thread, store->done_time);
  machine.submit(LandingKind::StoreWrite, *thread.cta->cluster, store);
}

void land_store_write(Engine& machine, void* operation) {
  const std::unique_ptr<StoreOperation> store(static_cast<StoreOperation*>(operation));
  Thread& thread = *store->issuer;
  const SharedAddress base = window_begin + store->offset;
  GlobalAccess access = write_of(machine, *store);
  for_each_run(store->map, store->at.data(), base, [&](const Run& run) {
    if (run.global == nullptr) return;
    const std::byte* const source = store->data.data() + (run.shared - base);
    if (may_write_global(machine, thread, run.global, run.bytes)) {
      judge_global_write(machine, run.global, source, run.bytes, access);
      std::memcpy(run.global, source, run.bytes);
    }
  });
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void tma_store(const TensorMap* packed_map, SharedAddress source, const int* coordinates,
               unsigned rank) {
  constexpr const char* instruction = "cp.async.bulk.tensor store";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const TileMap map = as_stored(checked_map(machine, packed_map, coordinates, rank, source,
                                            CopyDirection::Store, instruction));
  const SharedPlace place = machine.resolve_own(source, shared_box_bytes(map), instruction);
  touch_global(machine, thread, map.base);
  auto* store = new StoreOperation;
  store->map = map;
  std::copy_n(coordinates, rank, store->at.begin());
  store->issuer = &thread;
  store->offset = place.offset;
  store->group = thread.bulk.committed();
  store->done_time = book_copy_engine(*thread.cta->multiprocessor, thread.time, box_bytes(map));
  if (Shadow* shadow = thread.cta->shadow.get()) {
    const Slot agent =
        machine.order.agent(*thread.cta->cluster, AgentKind::Stores, &thread, thread.bulk_agent);
    Access access = Order::async(thread, "TMA store", agent, static_cast<Epoch>(store->group + 1));
    for_each_run(map, coordinates, window_begin + place.offset, [&](const Run& run) {
      if (run.global == nullptr) return;
      shadow->read(machine, run.shared - window_begin, run.bytes, access);
    });
  }
  store->known = machine.order.release_after({}, thread);
  store->site = machine.site_of(thread);
  thread.bulk.issue();
  machine.submit(LandingKind::StoreRead, *thread.cta->cluster, store);
}

void bulk_commit_group() { engine().enter().bulk.commit(); }

void bulk_wait_group_read(unsigned pending) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const TimedWait timed(machine, "TMA stores");
  if (!thread.bulk.done(pending)) {
    WaitList alone;
    machine.sleep(alone, {WaitKind::BulkGroup, nullptr, pending});
  }
  thread.bulk.waited(pending);
  if (thread.bulk_agent != no_slot) {
    const auto done = static_cast<Epoch>(thread.bulk.known_done());
    machine.order.learn(thread, thread.bulk_done, thread.bulk_agent, done);
  }
}

}  // namespace tw::model
