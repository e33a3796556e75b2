// Barriers, mbarriers, counters and fences: what orders threads, as the machine models it.
#include "tilewright/isa/model/async_copy.h"
#include "tilewright/isa/model/grid.h"
#include "tilewright/isa/model/launch_control.h"
#include "tilewright/isa/model/shared_memory.h"
#include "vgpu/machine/engine.h"
#include "vgpu/machine/mbarrier_model.h"
#include "vgpu/machine/named_barrier.h"
#include "vgpu/machine/strong_access.h"
#include "vgpu/ptx/run/form_table.h"
#include "vgpu/ptx/run/polling.h"
#include "vgpu/ptx/run/spaces.h"

namespace tw::vgpu::ptx {
namespace {

void barrier_sync(Frame& frame, const Step& step) {
  model::barrier_sync(get<std::uint32_t>(frame, step.slots[0]),
                      get<std::uint32_t>(frame, step.slots[1]));
}
void barrier_sync_all(Frame& frame, const Step& step) {
  model::barrier_sync(get<std::uint32_t>(frame, step.slots[0]), engine().launch.threads);
}
// barrier.red result, barrier, threads, predicate. detail: whether the number of threads is given,
// and whether the predicate stands negated.
constexpr std::uint32_t has_threads = 1, is_negated = 2;
unsigned reduce_at_barrier(const Frame& frame, const Step& step, unsigned& threads) {
  const bool is_counted = (step.detail & has_threads) != 0;
  threads = is_counted ? get<std::uint32_t>(frame, step.slots[2]) : engine().launch.threads;
  const bool vote = get_predicate(frame, step.slots[is_counted ? 3 : 2]);
  return model::barrier_reduce(get<std::uint32_t>(frame, step.slots[1]), threads,
                               vote != ((step.detail & is_negated) != 0));
}
void barrier_count(Frame& frame, const Step& step) {
  unsigned threads = 0;
  put<std::uint32_t>(frame, step.slots[0], reduce_at_barrier(frame, step, threads));
}
template <bool all>
void barrier_vote(Frame& frame, const Step& step) {
  unsigned threads = 0;
  const unsigned votes = reduce_at_barrier(frame, step, threads);
  put_predicate(frame, step.slots[0], all ? votes == threads : votes != 0);
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

// test_wait does not sleep, unless it is all that a loop does.
void test_wait(Frame& frame, const Step& step) {
  const SharedAddress barrier = shared_address_of(frame, step.addresses[0]);
  const auto parity = get<std::uint32_t>(frame, step.slots[1]);
  const bool is_over = polls(frame, step) ? model::mbarrier_try_wait_parity(barrier, parity)
                                          : model::mbarrier_test_wait_parity(barrier, parity);
  put_predicate(frame, step.slots[0], is_over);
  note_poll(frame, step, 0);
}

// Arrivals that count for several, or tell the phase that they were in. detail: whether they do,
// and whether a count stands behind the barrier.
constexpr std::uint32_t tells_phase = 1, has_count = 2;
void arrive_counted(Frame& frame, const Step& step) {
  const unsigned count =
      (step.detail & has_count) != 0 ? get<std::uint32_t>(frame, step.slots[1]) : 1;
  const std::uint64_t phase =
      model::mbarrier_arrive_counted(shared_address_of(frame, step.addresses[0]), count);
  if ((step.detail & tells_phase) != 0) put<std::uint64_t>(frame, step.slots[0], phase);
}

// Who looks, and fences what it found, has still done nothing but look.
void fence_accesses(Frame& frame, const Step&) {
  const bool is_looking = frame.polled_time == engine().current().time;
  fence_strong();
  if (is_looking) frame.polled_time = engine().current().time;
}

void no_effect(Frame&, const Step&) {}

// The same offset in another CTA; generic addresses keep their mark.
void map_generic(Frame& frame, const Step& step) {
  const auto address = get<std::uint64_t>(frame, step.slots[1]);
  put<std::uint64_t>(
      frame, step.slots[0],
      (address & generic_mask) | model::mapa(static_cast<SharedAddress>(address),
                                             get<std::uint32_t>(frame, step.slots[2])));
}
void map_address(Frame& frame, const Step& step) {
  put<std::uint32_t>(frame, step.slots[0],
                     model::mapa(get<std::uint32_t>(frame, step.slots[1]),
                                 get<std::uint32_t>(frame, step.slots[2])));
}

// getctarank d, address.
template <class T>
void rank_of(Frame& frame, const Step& step) {
  put<std::uint32_t>(frame, step.slots[0],
                     static_cast<SharedAddress>(get<T>(frame, step.slots[1])) >> window_rank_shift);
}

void add_barrier_reductions(FormTable& table, const std::string& name, const std::string& aligned) {
  for (const std::uint32_t detail : {0u, has_threads, is_negated, has_threads | is_negated}) {
    const std::string operands = std::string((detail & has_threads) != 0 ? "44" : "4") +
                                 ((detail & is_negated) != 0 ? "!1" : "1");
    table.add(name + ".popc" + aligned + ".u32", "4" + operands, barrier_count, detail);
    table.add(name + ".and" + aligned + ".pred", "1" + operands, barrier_vote<true>, detail);
    table.add(name + ".or" + aligned + ".pred", "1" + operands, barrier_vote<false>, detail);
  }
}

void add_barriers(FormTable& table) {
  for (const std::string name : {"bar", "bar.cta", "barrier", "barrier.cta"}) {
    const std::string aligned = name.starts_with("barrier") ? ".aligned" : "";
    table.add(name + ".sync" + aligned, "4", barrier_sync_all);
    table.add(name + ".sync" + aligned, "44", barrier_sync);
    table.add(name + ".arrive" + aligned, "44", barrier_arrive);
    add_barrier_reductions(table, name + ".red", aligned);
  }
  // Without .aligned the lanes of a warp may come by different ways, as they always do here.
  table.add("barrier.sync", "4", barrier_sync_all);
  table.add("barrier.sync", "44", barrier_sync);
  table.add("barrier.arrive", "44", barrier_arrive);
  add_barrier_reductions(table, "barrier.red", "");
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
  for (const std::string space : {"", ".shared", ".shared::cta"}) {
    const std::string end = space + ".b64";
    table.add("mbarrier.init" + end, "A4", on_barrier_with<model::mbarrier_init>, 0);
    table.add("mbarrier.inval" + end, "A", on_barrier<model::mbarrier_invalidate>);
    for (const std::string scope : {"", ".release.cta"}) {
      table.add("mbarrier.arrive" + scope + end, "_A", on_barrier<model::mbarrier_arrive>);
      table.add("mbarrier.arrive" + scope + end, "_A4", arrive_counted, has_count);
      table.add("mbarrier.arrive" + scope + end, "8A", arrive_counted, tells_phase);
      table.add("mbarrier.arrive" + scope + end, "8A4", arrive_counted, tells_phase | has_count);
      table.add("mbarrier.arrive.expect_tx" + scope + end, "_A4",
                on_barrier_with<model::mbarrier_arrive_expect_tx>, 1);
    }
    for (const std::string parity : {"", ".parity"}) {
      // A phase that an arrival told is known by its parity.
      const std::string phase = parity.empty() ? "8" : "4";
      for (const std::string scope :
           {"", ".acquire.cta", ".relaxed.cta", ".acquire.cluster", ".relaxed.cluster"}) {
        const std::string wait = parity + scope + end;
        const Execute execute = scope == ".acquire.cluster"
                                    ? try_wait<model::mbarrier_try_wait_parity_cluster>
                                    : try_wait<model::mbarrier_try_wait_parity>;
        table.add("mbarrier.try_wait" + wait, "1A" + phase, execute);
        table.add("mbarrier.try_wait" + wait, "1A" + phase + "4", execute);
        table.add("mbarrier.test_wait" + wait, "1A" + phase, test_wait);
      }
    }
    table.add("cp.async.mbarrier.arrive.noinc" + end, "A",
              on_barrier<model::cp_async_mbarrier_arrive_noinc>);
  }
  const std::string cluster = ".shared::cluster.b64";
  table.add("mbarrier.arrive" + cluster, "_A", on_barrier<model::mbarrier_arrive_cluster>);
  table.add("mbarrier.arrive" + cluster, "_A4", arrive_counted, has_count);
  table.add("mbarrier.arrive.release.cluster" + cluster, "_A",
            on_barrier<model::mbarrier_arrive_release_cluster>);
  table.add("mbarrier.arrive.relaxed.cluster" + cluster, "_A",
            on_barrier<model::mbarrier_arrive_relaxed_cluster>);
  table.add("mbarrier.arrive.expect_tx" + cluster, "_A4",
            on_barrier_with<model::mbarrier_arrive_expect_tx_peer>, 1);
  table.add("mbarrier.arrive.expect_tx.release.cluster" + cluster, "_A4",
            on_barrier_with<model::mbarrier_arrive_expect_tx_cluster>, 1);
  table.add("mbarrier.arrive.expect_tx.relaxed.cluster" + cluster, "_A4",
            on_barrier_with<model::mbarrier_arrive_expect_tx_relaxed_cluster>, 1);
  for (const std::string scope : {"", ".relaxed.cta", ".relaxed.cluster"}) {
    for (const std::string space : {".shared", ".shared::cta", ".shared::cluster"}) {
      table.add("mbarrier.expect_tx" + scope + space + ".b64", "A4",
                on_barrier_with<model::mbarrier_expect_tx>, 0);
    }
  }
}

void add_fences(FormTable& table) {
  for (const std::string scope : {"cta", "cluster", "gpu", "sys"}) {
    for (const std::string semantics : {"acq_rel", "sc", "acquire", "release"}) {
      table.add("fence." + semantics + "." + scope, "", fence_accesses);
    }
    // Nothing here is asked of maps that kernels write.
    const std::string maps = "fence.proxy.tensormap::generic.";
    table.add(maps + "release." + scope, "", no_effect);
    table.add(maps + "acquire." + scope, "A4", no_effect);
  }
  for (const std::string scope : {"cta", "gl", "sys"}) {
    table.add("membar." + scope, "", fence_accesses);
  }
  for (const std::string space : {"", ".global", ".shared::cta", ".shared::cluster"}) {
    table.add("fence.proxy.async" + space, "", alone<model::fence_proxy_async>);
  }
  table.add("fence.proxy.alias", "", no_effect);
}

}  // namespace

void add_signals(FormTable& table) {
  add_barriers(table);
  add_mbarriers(table);
  add_fences(table);
  table.add("mapa.shared::cluster.u32", "444", map_address);
  table.add("mapa.u64", "884", map_generic);
  table.add("mapa.shared::cluster.u64", "884", map_generic);
  table.add("getctarank.shared::cluster.u32", "44", rank_of<std::uint32_t>);
  table.add("getctarank.u64", "48", rank_of<std::uint64_t>);
  table.add("nanosleep.u32", "4", no_effect);
  table.add("fence.mbarrier_init.release.cluster", "", alone<model::fence_mbarrier_init>);
  table.add("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "",
            alone<model::fence_async_release_cluster>);
  table.add("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "",
            alone<model::fence_async_acquire_cluster>);
  table.add("griddepcontrol.wait", "", alone<model::griddepcontrol_wait>);
  table.add("griddepcontrol.launch_dependents", "", alone<model::griddepcontrol_launch_dependents>);
}

}  // namespace tw::vgpu::ptx
