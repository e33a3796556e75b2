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
  const auto part = static_cast<BulkPart>(thread.wait.detail & 1);
  if (thread.bulk.done(thread.wait.detail >> 1, part)) machine.wake(thread, time);
}

// Judged when it lands, for only then its bytes are known; but by what the issuer knew.
GlobalAccess write_of(Engine& machine, const StoreOperation& store) {
  if (!machine.order.enabled()) return {};
  Thread& thread = *store.issuer;
  const Slot agent = machine.order.agent(*thread.cta->cluster, AgentKind::StoreWrites, &thread,
                                         thread.bulk_writer);
  Access access = Order::async(thread, store.reduce == nullptr ? "TMA store" : "TMA reduction",
                               agent, static_cast<Epoch>(store.group + 1));
  access.known = store.known.get();  // includes the issuer's own accesses before the store
  access.self = no_slot;
  access.site = store.site;
  GlobalAccess write{access};
  write.atomic = store.reduce != nullptr;
  return write;
}

// What a store writes: its data, or what they make of the bytes that are there.
void write_run(Engine& machine, const StoreOperation& store, const Run& run,
               const std::byte* source, GlobalAccess& access) {
  const Thread& thread = *store.issuer;
  if (!may_write_global(machine, thread, run.global, run.bytes)) return;
  if (store.reduce == nullptr) {
    judge_global_write(machine, run.global, source, run.bytes, access);
    std::memcpy(run.global, source, run.bytes);
    return;
  }
  if (!may_read_global(machine, thread, run.global, run.bytes)) return;
  std::vector<std::byte> joined(run.global, run.global + run.bytes);
  store.reduce(joined.data(), source, run.bytes);
  judge_global_write(machine, run.global, joined.data(), run.bytes, access);
  std::memcpy(run.global, joined.data(), run.bytes);
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
    write_run(machine, *store, run, store->data.data() + (run.shared - base), access);
  });
  thread.bulk.landed_write(store->group);
  wake_if_done(machine, thread, store->done_time);
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

namespace {

void issue_store(Engine& machine, Thread& thread, const TileMap& map, const int* coordinates,
                 SharedAddress source, const char* instruction, Reduce reduce) {
  const SharedPlace place = machine.resolve_own(source, shared_box_bytes(map), instruction);
  touch_global(machine, thread, map.base);
  auto* store = new StoreOperation;
  store->map = map;
  store->reduce = reduce;
  std::copy_n(coordinates, map.rank, store->at.begin());
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

void store_box(const TensorMap* packed_map, SharedAddress source, const int* coordinates,
               unsigned rank, const char* instruction, Reduce reduce) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const TileMap map = checked_map(machine, packed_map, coordinates, rank, source,
                                  CopyDirection::Store, instruction);
  // A reduction joins elements of the tensor alone.
  issue_store(machine, thread, reduce == nullptr ? as_stored(map) : map,
              in_memory(map, coordinates).data(), source, instruction, reduce);
}

void wait_for_group(unsigned pending, BulkPart part) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const TimedWait timed(machine, "TMA stores");
  if (!thread.bulk.done(pending, part)) {
    WaitList alone;
    machine.sleep(alone, {WaitKind::BulkGroup, nullptr,
                          std::uint64_t{pending} << 1 | static_cast<unsigned>(part)});
  }
  thread.bulk.waited(pending, part);
  if (thread.bulk_agent != no_slot) {
    const auto done = static_cast<Epoch>(thread.bulk.known_done());
    machine.order.learn(thread, thread.bulk_done, thread.bulk_agent, done);
  }
  const auto written = static_cast<Epoch>(thread.bulk.known_written());
  if (thread.bulk_writer != no_slot && written != 0) {
    machine.order.learn(thread, thread.bulk_written, thread.bulk_writer, written);
  }
}

}  // namespace

void tma_store(const TensorMap* map, SharedAddress source, const int* coordinates, unsigned rank) {
  store_box(map, source, coordinates, rank, "cp.async.bulk.tensor store", nullptr);
}
void tma_reduce(const TensorMap* map, SharedAddress source, const int* coordinates, unsigned rank,
                Reduce reduce) {
  store_box(map, source, coordinates, rank, "cp.reduce.async.bulk.tensor", reduce);
}

void bulk_store(void* destination, SharedAddress source, std::uint32_t bytes, Reduce reduce) {
  const char* const instruction =
      reduce == nullptr ? "cp.async.bulk store" : "cp.reduce.async.bulk";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  check_line(machine, reinterpret_cast<std::uintptr_t>(destination), source, bytes, instruction);
  if (bytes == 0) return;
  TileMap line;
  line.base = destination;
  line.line_bytes = bytes;
  issue_store(machine, thread, line, nullptr, source, instruction, reduce);
}

void bulk_commit_group() { engine().enter().bulk.commit(); }

void bulk_wait_group_read(unsigned pending) { wait_for_group(pending, BulkPart::Reads); }
void bulk_wait_group(unsigned pending) { wait_for_group(pending, BulkPart::Writes); }

}  // namespace tw::model
