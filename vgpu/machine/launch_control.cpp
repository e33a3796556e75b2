#include "vgpu/machine/launch_control.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <vector>

#include "tilewright/isa/model/launch_control.h"
#include "vgpu/machine/mbarrier_model.h"

namespace tw::vgpu {
namespace {

constexpr const char* instruction = "clusterlaunchcontrol.try_cancel";
constexpr std::uint32_t response_bytes = sizeof(CancelResponse);
constexpr std::uint64_t latency_picoseconds = 1'000'000;

// Our responses: a mark that poison and stray bytes lack, then whether a cluster was taken.
constexpr std::uint64_t mark = 0x7477'2d63'6c63'0000;
constexpr std::uint64_t taken_bit = 1;

struct CancelOperation {
  struct Target {
    Cta* cta;
    std::uint32_t offset;
    Mbarrier* barrier;
  };
  std::vector<Target> targets;
  std::uint64_t done_time = 0;
};

void issue_to(Engine& machine, Thread& thread, CancelOperation& cancel, Cta& cta,
              std::uint32_t offset, std::uint32_t barrier_offset) {
  Mbarrier& barrier =
      usable_mbarrier(machine, {&cta, barrier_offset}, BarrierUse::Threads, instruction);
  ++barrier.copies_in_flight;
  barrier.copying_role = thread.role;
  if (cta.shadow != nullptr) {
    const Slot agent =
        machine.order.agent(*cta.cluster, AgentKind::Copies, &barrier, barrier.copies);
    Access access = Order::async(thread, instruction, agent, barrier.copies_epoch);
    access.fenced_reads = true;
    cta.shadow->write(machine, offset, response_bytes, access);
    cta.shadow->set_step(offset, response_bytes, no_step);
  }
  std::memset(cta.shared.get() + offset, 0xFF, response_bytes);
  cancel.targets.push_back({&cta, offset, &barrier});
}

SharedPlace response_place(Engine& machine, SharedAddress response, const char* what) {
  const SharedPlace place = machine.resolve_own(response, response_bytes, what);
  if (place.offset % response_bytes == 0) return place;
  machine.report(Checker::Alignment, place_stage(*place.cta, place.offset), what, [&] {
    return fmt::format("The {} gives {} a response at byte {}; it must be a multiple of 16.",
                       who(machine.current()), what, place.offset);
  });
  machine.abandon();
}

bool is_response(const CancelResponse& response) {
  return (response.words[1] & ~taken_bit) == mark;
}

void check_response(Engine& machine, const CancelResponse& response) {
  if (is_response(response)) return;
  machine.report(Checker::Uninitialised, -1, "query_cancel", [&] {
    return fmt::format(
        "The {} asks clusterlaunchcontrol.query_cancel about bytes that no try_cancel wrote.",
        who(machine.current()));
  });
}

}  // namespace

void discard_cancel(void* operation) { delete static_cast<CancelOperation*>(operation); }

void land_cancel(Engine& machine, void* operation) {
  const std::unique_ptr<CancelOperation> cancel(static_cast<CancelOperation*>(operation));
  unsigned first_cta = 0;
  const bool taken = machine.cancel_cluster(first_cta);
  const CancelResponse response{{first_cta, mark | (taken ? taken_bit : 0)}};
  for (const CancelOperation::Target& target : cancel->targets) {
    std::memcpy(target.cta->shared.get() + target.offset, &response, response_bytes);
    complete_transaction(machine, *target.barrier, response_bytes, cancel->done_time);
  }
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void try_cancel(SharedAddress response, SharedAddress barrier, bool multicast) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  Cta& own = *thread.cta;
  const SharedPlace place = response_place(machine, response, instruction);
  const SharedPlace signal = machine.resolve_own(barrier, 8, instruction);
  if (own.cancel_failed) {
    machine.report(Checker::CancelAfterFailure, -1, instruction, [&] {
      return fmt::format(
          "The {} executes {} although its CTA has seen that no cluster was left: that is "
          "undefined.",
          who(thread), instruction);
    });
  }
  auto cancel = std::make_unique<CancelOperation>();
  cancel->done_time = thread.time + latency_picoseconds;
  for (auto& cta : own.cluster->ctas) {
    if (!multicast && cta.get() != &own) continue;
    issue_to(machine, thread, *cancel, *cta, place.offset, signal.offset);
  }
  machine.submit(LandingKind::Cancel, *own.cluster, cancel.release());
}

CancelResponse load_cancel_response(SharedAddress address) {
  constexpr const char* what = "a load of a cancel response";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const SharedPlace place = response_place(machine, address, what);
  machine.step.tells();
  machine.step.shared(TouchKind::Reads, place.cta->index, place.offset, response_bytes);
  if (place.cta->shadow != nullptr) {
    Access access = Order::generic(thread, what);
    place.cta->shadow->read(machine, place.offset, response_bytes, access);
  }
  CancelResponse response;
  std::memcpy(&response, place.data(), response_bytes);
  if (is_response(response) && (response.words[1] & taken_bit) == 0) {
    thread.cta->cancel_failed = true;
  }
  return response;
}

bool query_is_canceled(const CancelResponse& response) {
  Engine& machine = engine();
  machine.enter();
  check_response(machine, response);
  return is_response(response) && (response.words[1] & taken_bit) != 0;
}

unsigned query_first_cta_x(const CancelResponse& response) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  check_response(machine, response);
  if (is_response(response) && (response.words[1] & taken_bit) == 0) {
    machine.report(Checker::CancelAfterFailure, -1, "query_cancel", [&] {
      return fmt::format(
          "The {} asks for the first CTA of a response that took no cluster: that is undefined.",
          who(thread));
    });
  }
  return static_cast<unsigned>(response.words[0]);
}

}  // namespace tw::model
