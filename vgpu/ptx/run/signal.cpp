// Barriers, mbarriers, counters and fences: what orders threads, as the machine models it.
#include "tilewright/isa/model/async_copy.h"
#include "tilewright/isa/model/counter.h"
#include "tilewright/isa/model/grid.h"
#include "tilewright/isa/model/launch_control.h"
#include "tilewright/isa/model/shared_memory.h"
#include "vgpu/machine/counter.h"
#include "vgpu/machine/engine.h"
#include "vgpu/machine/mbarrier_model.h"
#include "vgpu/ptx/run/form_table.h"

namespace tw::vgpu::ptx {
namespace {

void barrier_sync(Frame& frame, const Step& step) {
  model::barrier_sync(get<std::uint32_t>(frame, step.slots[0]),
                      get<std::uint32_t>(frame, step.slots[1]));
}
void barrier_sync_all(Frame& frame, const Step& step) {
  model::barrier_sync(get<std::uint32_t>(frame, step.slots[0]), engine().launch.threads);
}
void barrier_arrive(Frame& frame, const Step& step) {
  model::barrier_arrive(get<std::uint32_t>(frame, step.slots[0]),
                        get<std::uint32_t>(frame, step.slots[1]));
}

// Instructions without operands.
template <void (*instruction)()>
void alone(Frame&, const Step&) {
  instruction();
}
// On a barrier in brackets, and with bytes behind it. A state that they return has no model: it is
// told apart by a sink in front.
template <void (*instruction)(SharedAddress)>
void on_barrier(Frame& frame, const Step& step) {
  instruction(shared_address_of(frame, step.addresses[0]));
}
template <void (*instruction)(SharedAddress, unsigned)>
void on_barrier_with(Frame& frame, const Step& step) {
  instruction(shared_address_of(frame, step.addresses[0]),
              get<std::uint32_t>(frame, step.slots[step.detail]));
}

template <bool (*instruction)(SharedAddress, unsigned)>
void try_wait(Frame& frame, const Step& step) {
  put_predicate(frame, step.slots[0],
                instruction(shared_address_of(frame, step.addresses[0]),
                            get<std::uint32_t>(frame, step.slots[1])));
}

// Whether the thread has done nothing that the machine saw since it came here last: then it may
// sleep until it finds something else, so that what it waits for can land.
bool polls(const Frame& frame, const Step& step) {
  return frame.polled == &step && frame.polled_time == engine().current().time;
}
void note_poll(Frame& frame, const Step& step, std::uint32_t value) {
  frame.polled = &step;
  frame.polled_value = value;
  frame.polled_time = engine().current().time;
}

// test_wait does not sleep, unless it is all that a loop does.
void test_wait(Frame& frame, const Step& step) {
  const SharedAddress barrier = shared_address_of(frame, step.addresses[0]);
  const auto parity = get<std::uint32_t>(frame, step.slots[1]);
  const bool is_over = polls(frame, step) ? model::mbarrier_try_wait_parity(barrier, parity)
                                          : model::mbarrier_test_wait_parity(barrier, parity);
  put_predicate(frame, step.slots[0], is_over);
  note_poll(frame, step, 0);
}

std::uint32_t* counter_at(const Frame& frame, const Step& step) {
  return reinterpret_cast<std::uint32_t*>(address_of(frame, step.addresses[0]));
}
template <void (*instruction)(std::uint32_t*, std::uint32_t)>
void on_counter(Frame& frame, const Step& step) {
  instruction(counter_at(frame, step), get<std::uint32_t>(frame, step.slots[0]));
}
void fetch_add(Frame& frame, const Step& step) {
  put(frame, step.slots[0],
      model::global_fetch_add(counter_at(frame, step), get<std::uint32_t>(frame, step.slots[1])));
}
void load_acquire(Frame& frame, const Step& step) {
  const std::uint32_t* const unwanted = polls(frame, step) ? &frame.polled_value : nullptr;
  const std::uint32_t value = model::global_load_acquire(counter_at(frame, step), unwanted);
  put(frame, step.slots[0], value);
  note_poll(frame, step, value);
}
void add_relaxed(Frame& frame, const Step& step) {
  model::global_fetch_add(counter_at(frame, step), get<std::uint32_t>(frame, step.slots[0]));
}

void map_address(Frame& frame, const Step& step) {
  put<std::uint32_t>(frame, step.slots[0],
                     model::mapa(get<std::uint32_t>(frame, step.slots[1]),
                                 get<std::uint32_t>(frame, step.slots[2])));
}

void add_barriers(FormTable& table) {
  for (const std::string name : {"bar", "bar.cta", "barrier", "barrier.cta"}) {
    const std::string aligned = name.starts_with("barrier") ? ".aligned" : "";
    table.add(name + ".sync" + aligned, "4", barrier_sync_all);
    table.add(name + ".sync" + aligned, "44", barrier_sync);
    table.add(name + ".arrive" + aligned, "44", barrier_arrive);
  }
  // Without .aligned the lanes of a warp may come by different ways, as they always do here.
  table.add("barrier.sync", "4", barrier_sync_all);
  table.add("barrier.sync", "44", barrier_sync);
  table.add("barrier.arrive", "44", barrier_arrive);
  for (const std::string aligned : {"", ".aligned"}) {
    table.add("barrier.cluster.arrive.relaxed" + aligned, "", alone<model::cluster_arrive>);
    for (const std::string release : {"", ".release"}) {
      table.add("barrier.cluster.arrive" + release + aligned, "",
                alone<model::cluster_arrive_release>);
    }
    for (const std::string acquire : {"", ".acquire"}) {
      table.add("barrier.cluster.wait" + acquire + aligned, "", alone<model::cluster_wait>);
    }
  }
}

void add_mbarriers(FormTable& table) {
  for (const std::string space : {".shared", ".shared::cta"}) {
    table.add("mbarrier.init" + space + ".b64", "A4", on_barrier_with<model::mbarrier_init>, 0);
    for (const std::string scope : {"", ".release.cta"}) {
      table.add("mbarrier.arrive" + scope + space + ".b64", "_A",
                on_barrier<model::mbarrier_arrive>);
      table.add("mbarrier.arrive.expect_tx" + scope + space + ".b64", "_A4",
                on_barrier_with<model::mbarrier_arrive_expect_tx>, 1);
    }
    for (const std::string scope : {"", ".acquire.cta"}) {
      const std::string end = ".parity" + scope + space + ".b64";
      table.add("mbarrier.try_wait" + end, "1A4", try_wait<model::mbarrier_try_wait_parity>);
      table.add("mbarrier.try_wait" + end, "1A44", try_wait<model::mbarrier_try_wait_parity>);
      table.add("mbarrier.test_wait" + end, "1A4", test_wait);
    }
    table.add("mbarrier.try_wait.parity.acquire.cluster" + space + ".b64", "1A4",
              try_wait<model::mbarrier_try_wait_parity_cluster>);
    table.add("cp.async.mbarrier.arrive.noinc" + space + ".b64", "A",
              on_barrier<model::cp_async_mbarrier_arrive_noinc>);
  }
  const std::string cluster = ".shared::cluster.b64";
  table.add("mbarrier.arrive" + cluster, "_A", on_barrier<model::mbarrier_arrive_cluster>);
  table.add("mbarrier.arrive.release.cluster" + cluster, "_A",
            on_barrier<model::mbarrier_arrive_release_cluster>);
  table.add("mbarrier.arrive.relaxed.cluster" + cluster, "_A",
            on_barrier<model::mbarrier_arrive_relaxed_cluster>);
  table.add("mbarrier.arrive.expect_tx.release.cluster" + cluster, "_A4",
            on_barrier_with<model::mbarrier_arrive_expect_tx_cluster>, 1);
  table.add("mbarrier.arrive.expect_tx.relaxed.cluster" + cluster, "_A4",
            on_barrier_with<model::mbarrier_arrive_expect_tx_relaxed_cluster>, 1);
}

}  // namespace

void add_signals(FormTable& table) {
  add_barriers(table);
  add_mbarriers(table);
  table.add("mapa.shared::cluster.u32", "444", map_address);
  table.add("fence.mbarrier_init.release.cluster", "", alone<model::fence_mbarrier_init>);
  for (const std::string space : {"", ".shared::cta"}) {
    table.add("fence.proxy.async" + space, "", alone<model::fence_proxy_async>);
  }
  table.add("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "",
            alone<model::fence_async_release_cluster>);
  table.add("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "",
            alone<model::fence_async_acquire_cluster>);
  table.add("griddepcontrol.wait", "", alone<model::griddepcontrol_wait>);
  table.add("griddepcontrol.launch_dependents", "", alone<model::griddepcontrol_launch_dependents>);
  table.add("red.release.gpu.global.add.u32", "A4", on_counter<model::global_add_release>);
  table.add("st.release.gpu.global.u32", "A4", on_counter<model::global_store_release>);
  table.add("ld.acquire.gpu.global.u32", "4A", load_acquire);
  for (const std::string scope : {"", ".relaxed.gpu"}) {
    table.add("red" + scope + ".global.max.u32", "A4", on_counter<model::global_atomic_max>);
    table.add("red" + scope + ".global.add.u32", "A4", add_relaxed);
    table.add("atom" + scope + ".global.add.u32", "4A4", fetch_add);
  }
}

}  // namespace tw::vgpu::ptx
