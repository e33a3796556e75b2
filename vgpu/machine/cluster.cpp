#include "vgpu/machine/cluster.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tw::vgpu {
namespace {

constexpr std::size_t arena_alignment = 1024;  // the 128-byte swizzle repeats so often
constexpr int fresh_memory = 0xA5;             // shared memory of a new CTA holds what it likes

constexpr int nothing = 0xFF;  // NaN in every floating-point format

std::byte* new_arena(std::size_t bytes, int content) {
  const std::size_t rounded = (bytes + arena_alignment) / arena_alignment * arena_alignment;
  void* arena = std::aligned_alloc(arena_alignment, rounded);
  if (arena == nullptr) throw std::bad_alloc();
  std::memset(arena, content, rounded);
  return static_cast<std::byte*>(arena);
}

void make_threads(Cta& cta, unsigned count, unsigned lanes) {
  const unsigned warp_count = (count + lanes - 1) / lanes;
  cta.threads = std::vector<Thread>(count);
  cta.warps = std::vector<Warp>(warp_count);
  cta.warpgroups = std::vector<Warpgroup>((count + warpgroup_threads - 1) / warpgroup_threads);
  cta.live_threads = count;
  for (unsigned index = 0; index < count; ++index) {
    Thread& thread = cta.threads[index];
    thread.cta = &cta;
    thread.warp = &cta.warps[index / lanes];
    thread.index = index;
    thread.lane = index % lanes;
    thread.time = cta.multiprocessor->time;
  }
  for (unsigned index = 0; index < warp_count; ++index) {
    Warp& warp = cta.warps[index];
    warp.cta = &cta;
    warp.index = index;
    warp.first_thread = index * lanes;
    warp.lanes = first_lanes(std::min(lanes, count - warp.first_thread));
    for (unsigned kind = 0; kind < collective_count; ++kind) {
      warp.rendezvous[kind].collective = static_cast<Collective>(kind);
    }
  }
  for (unsigned index = 0; index < cta.warpgroups.size(); ++index) {
    Warpgroup& warpgroup = cta.warpgroups[index];
    warpgroup.cta = &cta;
    warpgroup.index = index;
    warpgroup.threads = std::min(warpgroup_threads, count - index * warpgroup_threads);
  }
}

}  // namespace

Process Thread::process() const {
  return {cta->index * static_cast<std::uint32_t>(cta->threads.size()) + index, 0};
}

void Cta::FreeArena::operator()(std::byte* arena) const { std::free(arena); }

void Cta::lend(std::uint32_t offset, std::uint32_t bytes) {
  if (facade == nullptr) return;
  std::memset(facade.get() + lent_offset, nothing, lent_bytes);
  std::memcpy(facade.get() + offset, shared.get() + offset, bytes);
  lent_offset = offset;
  lent_bytes = bytes;
}

std::optional<std::uint32_t> Cta::written_unseen() {
  if (facade == nullptr) return std::nullopt;
  std::memset(facade.get() + lent_offset, nothing, lent_bytes);
  const auto* const end = facade.get() + shared_bytes;
  const auto* const found = std::find_if(static_cast<const std::byte*>(facade.get()), end,
                                         [](std::byte byte) { return byte != std::byte{nothing}; });
  if (found == end) return std::nullopt;
  return static_cast<std::uint32_t>(found - facade.get());
}

std::unique_ptr<Cta> make_cta(Cluster& cluster, unsigned index, unsigned rank, unsigned threads,
                              unsigned lanes, std::size_t shared_bytes,
                              Multiprocessor& multiprocessor, bool check) {
  auto cta = std::make_unique<Cta>();
  cta->cluster = &cluster;
  cta->index = index;
  cta->rank = rank;
  cta->multiprocessor = &multiprocessor;
  cta->shared.reset(new_arena(shared_bytes, fresh_memory));
  if (check) cta->facade.reset(new_arena(shared_bytes, nothing));
  cta->shared_bytes = static_cast<std::uint32_t>(shared_bytes);
  cta->mbarriers.reset(shared_bytes);
  for (unsigned id = 0; id < named_barrier_count; ++id) cta->named_barriers[id].id = id;
  make_threads(*cta, threads, lanes);
  return cta;
}

}  // namespace tw::vgpu
