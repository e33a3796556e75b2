// What must hold when the last thread of a CTA has returned.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/machine/engine.h"
#include "vgpu/machine/mbarrier_model.h"

namespace tw::vgpu {
namespace {

// A peer's arrival must not come after this CTA has gone, whatever the schedule: somebody here has
// waited for its phase, or met the peer at the cluster barrier afterwards.
void check_peers_are_done(Engine& machine, const Cta& cta, const Mbarrier& barrier) {
  if (barrier.observed_phase >= barrier.remote_phases) return;
  for (const Thread& thread : cta.threads) {
    if (thread.cluster_waited > barrier.remote_cluster_phase) return;
  }
  machine.report_about(barrier.signalling_role(), Checker::BarrierLife, barrier.stage, barrier.name,
                       [&] {
                         return fmt::format(
                             "CTA {} ended without a wait for phase {} of {}, at which its peers "
                             "arrive: an arrival may "
                             "find it gone.",
                             cta.index, barrier.remote_phases - 1, barrier_name(barrier));
                       });
}

void check_unseen_writes(Engine& machine, Cta& cta) {
  const std::optional<std::uint32_t> offset = cta.written_unseen();
  if (!offset) return;
  machine.report_about(nullptr, Checker::Bounds, place_stage(cta, *offset), "unseen", [&] {
    return fmt::format(
        "CTA {} wrote {} by a plain pointer. Shared memory is written through TileTensor, "
        "store_element or isa/; other writes are nobody's, and cannot be checked.",
        cta.index, place_name(cta, *offset));
  });
}

void check_barriers(Engine& machine, Cta& cta) {
  for (const NamedBarrier& barrier : cta.named_barriers) {
    // The next CTA finds them empty. Arrivals that nobody waits for are left over by
    // FlashAttention-3; a kernel of ours has none.
    if (barrier.arrived == 0 || machine.launch.place) continue;
    machine.report_about(nullptr, Checker::BarrierLife, -1, &barrier, [&] {
      return fmt::format("CTA {} ended with {} of {} threads arrived at named barrier {}.",
                         cta.index, barrier.arrived, barrier.expected, barrier.id);
    });
  }
  for (const Mbarrier& barrier : cta.mbarriers.all()) {
    if (!barrier.initialised) continue;
    if (barrier.busy()) {
      machine.report_about(
          barrier.signalling_role(), Checker::BarrierLife, barrier.stage, barrier.name, [&] {
            return fmt::format(
                "CTA {} ended while {} was in phase {}: {} of {} arrivals, {} of {} bytes.",
                cta.index, barrier_name(barrier), barrier.phase, barrier.arrivals - barrier.pending,
                barrier.arrivals, barrier.arrived_bytes, barrier.expected_bytes);
          });
    }
    check_peers_are_done(machine, cta, barrier);
    // Judged by the waits, not by whether the copies happened to land in time.
    const bool unseen = barrier.counts_bytes && barrier.observed_phase < barrier.phase;
    const bool unseen_copies = barrier.observed_phase < barrier.copied_phases;
    if (barrier.copies_in_flight == 0 && !unseen && !unseen_copies) continue;
    machine.report_about(
        barrier.signalling_role(), Checker::InFlightAtExit, barrier.stage, barrier.name, [&] {
          return fmt::format(
              "CTA {} ended without a wait for the copies that signal phase {} of {}: they may "
              "write "
              "to shared memory that is no longer its own.",
              cta.index, unseen || unseen_copies ? barrier.phase - 1 : barrier.phase,
              barrier_name(barrier));
        });
  }
}

// Judged by order, as everything: a thread here learned of the access, or met the peer at the
// cluster barrier afterwards.
void check_peer_accesses(Engine& machine, const Cta& cta) {
  for (const auto& [slot, access] : cta.peer_accesses) {
    const bool is_over = std::any_of(cta.threads.begin(), cta.threads.end(), [&](const auto& own) {
      const Clock* known = own.view.known.get();
      return own.cluster_waited > access.cluster_phase ||
             (known != nullptr && known->covers(slot, access.epoch));
    });
    if (is_over || !machine.order.enabled()) continue;
    machine.report_about(access.thread->role, Checker::InFlightAtExit, -1, "peer", [&] {
      return fmt::format(
          "CTA {} ended while the {} may still touch its shared memory: nothing orders the end of "
          "the one after the accesses of the other.",
          cta.index, who(*access.thread));
    });
  }
}

void check_copies(Engine& machine, const Thread& thread) {
  const CopyGroups& copies = thread.copies;
  const bool waited = std::max(copies.known_done(), copies.announced()) >= copies.issued();
  if (waited && thread.copy_arrivals.empty()) return;
  machine.report_about(thread.role, Checker::InFlightAtExit, -1, "cp.async", [&] {
    return fmt::format("The {} returned without a wait for its cp.async copies: {}.", who(thread),
                       waited ? "nobody waited for the mbarrier at which they arrive"
                              : "no cp.async.wait_group, and no mbarrier, follows them");
  });
}

void check_groups(Engine& machine, const Thread& thread) {
  check_copies(machine, thread);
  check_wave_exit(machine, thread);
  if (!thread.bulk.all_known_done()) {
    machine.report_about(thread.role, Checker::InFlightAtExit, -1, "bulk", [&] {
      return fmt::format(
          "The {} returned without waiting until its TMA stores had read shared memory: {} groups "
          "committed, {} waited for.",
          who(thread), thread.bulk.committed(), thread.bulk.known_done());
    });
  }
  // One missing wait is one finding: products whose registers were touched are not named again.
  if (std::max(thread.wgmma_waited_ops, thread.wgmma_missed_ops) < thread.wgmma_issued) {
    machine.report_about(thread.role, Checker::InFlightAtExit, -1, "wgmma", [&] {
      return fmt::format("The {} returned with {} wgmmas in flight that it never waited for.",
                         who(thread), thread.wgmma_issued - thread.wgmma_waited_ops);
    });
  }
}

}  // namespace

void check_exit(Engine& machine, Cta& cta) {
  check_unseen_writes(machine, cta);
  check_barriers(machine, cta);
  check_peer_accesses(machine, cta);
  for (const Thread& thread : cta.threads) check_groups(machine, thread);
  check_tensor_exit(machine, cta);
  check_registers(machine, cta);
}

}  // namespace tw::vgpu
