// tcgen05.alloc, .dealloc and .relinquish_alloc_permit: warps ask for columns of tensor memory, in
// a group of two CTAs together with a warp of the peer.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/tensor_order.h"
#include "vgpu/machine/warp_collective.h"

namespace tw::vgpu {

unsigned TensorMemory::find_free(unsigned columns, unsigned from) const {
  const unsigned count = columns / allocation_unit;
  for (unsigned first = from / allocation_unit; first + count <= units; ++first) {
    if (std::none_of(used_.begin() + first, used_.begin() + first + count,
                     [](bool used) { return used; })) {
      return first * allocation_unit;
    }
  }
  return tensor_columns;
}

void TensorMemory::allocate(unsigned column, unsigned columns) {
  const unsigned first = column / allocation_unit, count = columns / allocation_unit;
  sizes_[first] = static_cast<std::uint16_t>(columns);
  std::fill_n(used_.begin() + first, count, true);
  std::fill_n(ever_used_.begin() + first, count, true);
  for (unsigned band = 0; band < tensor_bands; ++band) {
    std::fill_n(&cell(band, column), columns, TensorCell{});
  }
  for (unsigned lane = 0; lane < tensor_lanes; ++lane) {
    std::fill_n(row(lane, column), columns, tensor_poison);
  }
}

void TensorMemory::free(unsigned column) {
  const unsigned first = column / allocation_unit, count = sizes_[first] / allocation_unit;
  std::fill_n(used_.begin() + first, count, false);
  sizes_[first] = 0;
}

bool TensorMemory::owns(unsigned column, unsigned columns) const {
  if (column + columns > tensor_columns) return false;
  for (unsigned unit = column / allocation_unit; unit * allocation_unit < column + columns;
       ++unit) {
    if (!used_[unit]) return false;
  }
  return true;
}

unsigned TensorMemory::allocated_columns() const {
  return allocation_unit * static_cast<unsigned>(std::count(used_.begin(), used_.end(), true));
}

namespace {

Cta& peer_of(Cta& cta) { return *cta.cluster->ctas[cta.rank ^ 1]; }

void check_group(Engine& machine, const Cta& cta, unsigned cta_group, const char* instruction) {
  if (cta_group == 1 || cta.cluster->ctas.size() % 2 == 0) return;
  machine.report(Checker::Divergence, -1, instruction, [&] {
    return fmt::format("The {} executes {} for two CTAs in a cluster of {}.",
                       who(machine.current()), instruction, cta.cluster->ctas.size());
  });
  machine.abandon();
}

void write_address(Engine& machine, Cta& cta, const AllocationRequest& request, unsigned column) {
  const TensorAddress address = column;
  std::memcpy(cta.shared.get() + request.destination, &address, sizeof address);
  if (cta.shadow == nullptr) return;
  Access access = Order::generic(*request.thread, "tcgen05.alloc");
  cta.shadow->write(machine, request.destination, sizeof address, access);
  cta.shadow->set_step(request.destination, sizeof address, no_step);
}

// The oldest request of a CTA is fulfilled. All lanes of the warp that asked know its effects.
void complete(Engine& machine, Cta& cta, std::vector<AllocationRequest>& requests,
              unsigned column) {
  TensorMemory& memory = *cta.tensor;
  const AllocationRequest request = requests.front();
  requests.erase(requests.begin());
  if (request.is_free) {
    memory.free(request.column);
  } else {
    memory.allocate(column, request.columns);
    write_address(machine, cta, request, column);
  }
  WarpTensorState& warp = request.thread->warp->tensor;
  if (machine.order.enabled()) {
    ReleaseClock published;
    machine.order.release(published, *request.thread);
    warp.answer = published.finish();
  }
  warp.asks = false;
  machine.made_progress();
  machine.wake_all(memory.waiters, request.thread->time);
}

// Two CTAs that ask together must ask for the same.
void check_agreement(Engine& machine, const AllocationRequest& own,
                     const AllocationRequest& other) {
  if (own.columns == other.columns && own.column == other.column) return;
  machine.report_about(own.thread->role, Checker::Divergence, -1, "tcgen05.alloc", [&] {
    return fmt::format(
        "The {} {} {} columns of tensor memory, and the {} of its peer {}: two CTAs must ask for "
        "the same.",
        who(*own.thread), own.is_free ? "frees" : "allocates", own.columns, who(*other.thread),
        other.columns);
  });
}

// Fulfils the oldest request if that is possible; true if it did.
bool serve(Engine& machine, Cta& cta, std::vector<AllocationRequest> TensorMemory::*kind) {
  TensorMemory& memory = *cta.tensor;
  if ((memory.*kind).empty()) return false;
  const AllocationRequest request = (memory.*kind).front();
  Cta* peer = memory.cta_group == 2 ? &peer_of(cta) : nullptr;
  if (peer != nullptr) {
    if (peer->tensor == nullptr || (*peer->tensor.*kind).empty()) return false;
    check_agreement(machine, request, (*peer->tensor.*kind).front());
  }
  unsigned column = request.column;
  if (!request.is_free) {
    column = memory.find_free(request.columns);
    while (peer != nullptr && column < tensor_columns &&
           peer->tensor->find_free(request.columns, column) != column) {
      column = memory.find_free(request.columns, column + allocation_unit);
    }
    if (column >= tensor_columns) return false;
  }
  complete(machine, cta, memory.*kind, column);
  if (peer != nullptr) complete(machine, *peer, *peer->tensor.*kind, column);
  return true;
}

// The running lane asks together with its warp, and sleeps until the request is fulfilled.
template <class Check>
void ask(Engine& machine, Thread& thread, const AllocationRequest& request, Check&& check) {
  Cta& cta = *thread.cta;
  TensorMemory& memory = *cta.tensor;
  thread.warp->brought[thread.lane] = request.columns;
  meet(machine, thread, Collective::TensorAllocation, [&] {
    check_same_in_all_lanes(machine, thread, request.is_free ? "tcgen05.dealloc" : "tcgen05.alloc");
    check();
    auto& requests = request.is_free ? memory.frees : memory.allocations;
    requests.push_back(request);
    requests.back().thread = &thread;
    thread.warp->tensor.asks = true;
    while (serve(machine, cta, &TensorMemory::frees) ||
           serve(machine, cta, &TensorMemory::allocations)) {
    }
  });
  while (thread.warp->tensor.asks) {
    machine.sleep(memory.waiters, {WaitKind::TensorAllocation, &memory, 0});
  }
  machine.order.acquire(thread, thread.warp->tensor.answer);
}

void check_may_allocate(Engine& machine, TensorMemory& memory, unsigned columns) {
  const bool is_count = std::has_single_bit(columns) && columns >= 32 && columns <= 512;
  if (is_count && !memory.relinquished && columns <= memory.last_columns) {
    memory.last_columns = columns;
    return;
  }
  machine.report(Checker::TensorMemoryLife, -1, "tcgen05.alloc", [&] {
    return fmt::format(
        "The {} allocates {} columns of tensor memory, {}.", who(machine.current()), columns,
        !is_count ? "which is not a power of two from 32 to 512"
        : memory.relinquished
            ? "but its CTA has relinquished the permit to allocate"
            : fmt::format("more than the {} of the allocation before", memory.last_columns));
  });
  machine.abandon();
}

void check_may_free(Engine& machine, Cta& cta, TensorAddress address, unsigned columns) {
  TensorMemory& memory = *cta.tensor;
  const unsigned found =
      tensor_lane(address) == 0 ? memory.allocated_at(tensor_column(address)) : 0;
  if (found != columns || columns == 0) {
    machine.report(Checker::TensorMemoryLife, -1, "tcgen05.dealloc", [&] {
      return fmt::format("The {} frees {} columns at the address {:#x}, where {}.",
                         who(machine.current()), columns, address,
                         found == 0 ? std::string("no allocation begins")
                                    : fmt::format("{} are allocated", found));
    });
    machine.abandon();
  }
  CommonView common;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    common.add(cta.threads[machine.current().warp->first_thread + lane].view);
  }
  check_quiet(machine, {&cta, 0xFF, tensor_column(address), columns},
              machine.order.enabled() ? common.get(machine.order.pool) : ClockRef(),
              "tcgen05.dealloc");
}

// Whole warps only.
Thread& enter_whole_warp(Engine& machine, const char* instruction) {
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, instruction);
  return thread;
}

}  // namespace
}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void tcgen05_alloc(SharedAddress destination, unsigned columns, unsigned cta_group) {
  constexpr const char* instruction = "tcgen05.alloc";
  Engine& machine = engine();
  Thread& thread = enter_whole_warp(machine, instruction);
  check_group(machine, *thread.cta, cta_group, instruction);
  TensorMemory& memory = tensor_memory(machine, *thread.cta, cta_group, instruction);
  const SharedPlace place = machine.resolve_own(destination, 4, instruction);
  if (place.offset % 4 != 0) {
    machine.report(Checker::Alignment, -1, instruction, [&] {
      return fmt::format("The {} lets tcgen05.alloc write to byte {}; it must be a multiple of 4.",
                         who(thread), place.offset);
    });
    machine.abandon();
  }
  AllocationRequest request;
  request.columns = columns;
  request.destination = place.offset;
  ask(machine, thread, request, [&] { check_may_allocate(machine, memory, columns); });
}

void tcgen05_dealloc(TensorAddress address, unsigned columns, unsigned cta_group) {
  constexpr const char* instruction = "tcgen05.dealloc";
  Engine& machine = engine();
  Thread& thread = enter_whole_warp(machine, instruction);
  check_group(machine, *thread.cta, cta_group, instruction);
  tensor_memory(machine, *thread.cta, cta_group, instruction);
  AllocationRequest request;
  request.is_free = true;
  request.columns = columns;
  request.column = tensor_column(address);
  ask(machine, thread, request, [&] { check_may_free(machine, *thread.cta, address, columns); });
}

void tcgen05_relinquish_alloc_permit(unsigned cta_group) {
  constexpr const char* instruction = "tcgen05.relinquish_alloc_permit";
  Engine& machine = engine();
  Thread& thread = enter_whole_warp(machine, instruction);
  TensorMemory& memory = tensor_memory(machine, *thread.cta, cta_group, instruction);
  meet(machine, thread, Collective::TensorAllocation, [&] { memory.relinquished = true; });
}

}  // namespace tw::model
