#include "vgpu/machine/copy_operation.h"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/machine/async_copy.h"
#include "vgpu/machine/engine.h"
#include "vgpu/machine/launch_control.h"
#include "vgpu/machine/shared_access.h"
#include "vgpu/machine/shared_copy.h"
#include "vgpu/machine/swizzle_check.h"

namespace tw::vgpu {
namespace {

// A Hopper multiprocessor moves 64 bytes a cycle at 1.7 GHz, and the first come from the L2.
constexpr std::uint64_t bytes_per_microsecond = 108'800;
constexpr std::uint64_t latency_picoseconds = 600'000;

}  // namespace

std::uint64_t book_copy_engine(Multiprocessor& multiprocessor, std::uint64_t issue_time,
                               std::uint32_t bytes) {
  const std::uint64_t begin = std::max(issue_time, multiprocessor.copy_engine_free);
  multiprocessor.copy_engine_free =
      begin + std::uint64_t{bytes} * 1'000'000 / bytes_per_microsecond;
  return multiprocessor.copy_engine_free + latency_picoseconds;
}

namespace {

bool is_shared(const Cluster& cluster, const void* address) {
  return std::any_of(cluster.ctas.begin(), cluster.ctas.end(), [&](const auto& cta) {
    return lies_in(address, 1, cta->shared.get(), cta->shared_bytes) ||
           lies_in(address, 1, cta->kernel_view(), cta->shared_bytes);
  });
}

}  // namespace

TileMap read_map(Engine& machine, const TensorMap* packed, const char* instruction) {
  constexpr std::uintptr_t alignment = 64;
  const Thread& thread = machine.current();
  const std::uintptr_t rest = reinterpret_cast<std::uintptr_t>(packed) % alignment;
  const bool is_local = machine.is_local(packed);
  if (is_local || is_shared(*thread.cta->cluster, packed)) {
    machine.report(Checker::Bounds, -1, "tensor map", [&] {
      return fmt::format(
          "The {} gives {} a tensor map in {}. A map lies in the kernel's parameters "
          "(__grid_constant__), in constant or in global memory.",
          who(thread), instruction, is_local ? "local memory of a thread" : "shared memory");
    });
    machine.abandon();
  }
  if (rest != 0) {
    machine.report(Checker::Alignment, -1, "tensor map", [&] {
      return fmt::format(
          "The {} gives {} a tensor map {} bytes behind a multiple of {}; maps are {}-byte "
          "aligned.",
          who(thread), instruction, rest, alignment, alignment);
    });
    machine.abandon();
  }
  return machine.refusing([&] { return decode(*packed); });
}

std::array<int, 5> in_memory(const TileMap& map, const int* coordinates) {
  std::array<int, 5> at = {};
  std::copy_n(coordinates, map.rank, at.begin());
  if (map.nibbles) at[0] /= 2;
  return at;
}

TileMap checked_map(Engine& machine, const TensorMap* packed, const int* at, unsigned rank,
                    SharedAddress shared, CopyDirection direction, const char* instruction) {
  const TileMap map = read_map(machine, packed, instruction);
  if (map.rank != rank) {
    machine.report(Checker::Bounds, -1, instruction, [&] {
      return fmt::format("The {} gives {} {} coordinates for a tensor of rank {}.",
                         who(machine.current()), instruction, rank, map.rank);
    });
    machine.abandon();
  }
  if (map.is_im2col() != (direction == CopyDirection::LoadIm2col)) {
    machine.report(Checker::Bounds, -1, instruction, [&] {
      return fmt::format("The {} gives {} a map of {}.", who(machine.current()), instruction,
                         map.is_im2col() ? "columns of pixels" : "boxes");
    });
    machine.abandon();
  }
  if (map.nibbles && at[0] % 2 != 0) {
    machine.report_exception("cp.async.bulk.tensor: a coordinate of elements of 4 bits is odd.");
  }
  if (const Status status = check_copy(map, in_memory(map, at).data(), shared, direction);
      !status.is_good()) {
    machine.report(Checker::Alignment, -1, instruction, [&] {
      return fmt::format("The {} executes {}. {}", who(machine.current()), instruction,
                         status.sentence());
    });
    machine.abandon();
  }
  check_box_pattern(machine, shared, shared_box_bytes(map), map.swizzle, instruction);
  return map;
}

void check_line(Engine& machine, std::uint64_t one_side, std::uint64_t other_side,
                std::uint32_t bytes, const char* instruction) {
  if (one_side % 16 == 0 && other_side % 16 == 0 && bytes % 16 == 0) return;
  machine.report(Checker::Alignment, -1, instruction, [&] {
    return fmt::format(
        "The {} executes {} of {} bytes between the addresses {:#x} and {:#x}: all three must be "
        "multiples of 16.",
        who(machine.current()), instruction, bytes, one_side, other_side);
  });
  machine.abandon();
}

void discard(const PendingLanding& landing) {
  switch (landing.kind) {
    case LandingKind::Load: delete static_cast<LoadOperation*>(landing.operation); return;
    case LandingKind::StoreRead:
    case LandingKind::StoreWrite: delete static_cast<StoreOperation*>(landing.operation); return;
    case LandingKind::ThreadCopies: discard_thread_copies(landing.operation); return;
    case LandingKind::SharedCopy: discard_shared_copy(landing.operation); return;
    case LandingKind::StoreAsync: discard_store_async(landing.operation); return;
    case LandingKind::Cancel: discard_cancel(landing.operation); return;
    case LandingKind::WaveLoad: discard_wave_load(landing.operation); return;
    case LandingKind::Wgmma:                 // the warpgroup owns its products
    case LandingKind::TensorPipeline:        // the thread owns its pipeline
    case LandingKind::TensorAccess: return;  // the warp owns its accesses
  }
}

}  // namespace tw::vgpu
