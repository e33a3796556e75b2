#include "vgpu/machine/stack_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

namespace tw::vgpu {
namespace {

constexpr std::size_t stack_bytes = 128 << 10;
// A frame may be larger than a stack and begin to be written at its lower end. A GPU gives a thread
// 512 KiB of local memory, so that no kernel has frames which reach beyond this.
constexpr std::size_t guard_bytes = 1 << 20;
constexpr std::size_t slot_bytes = guard_bytes + stack_bytes;
constexpr std::size_t slots_per_mapping = 128;
// Tops of neighbouring stacks lie at different cache sets; aligned alike, they would evict each
// other at every switch.
constexpr std::size_t stagger_bytes = 576;
constexpr std::size_t stagger_steps = 16;

// Frames of kernels that are compiled without optimisation fit; the rest of a stack stays unmapped.
constexpr std::size_t poisoned_bytes = 16 << 10;

}  // namespace

void poison_stack(const Stack& stack) {
  const std::size_t bytes = std::min(stack.bytes, poisoned_bytes);
  std::memset(stack.top - bytes, 0xff, bytes);
}

[[gnu::noinline]] void poison_below() {
  volatile std::uint64_t frame[1024];
  for (volatile std::uint64_t& word : frame) word = ~std::uint64_t{0};
}

StackPool::~StackPool() {
  for (const Mapping& mapping : mappings_) munmap(mapping.begin, mapping.bytes);
}

Stack StackPool::take() {
  if (free_.empty()) map_more();
  const Stack stack = free_.back();
  free_.pop_back();
  return stack;
}

void StackPool::map_more() {
  const std::size_t bytes = slots_per_mapping * slot_bytes;
  void* begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  mappings_.push_back({begin, bytes});
  for (std::size_t slot = slots_per_mapping; slot-- > 0;) {
    std::byte* bottom = static_cast<std::byte*>(begin) + slot * slot_bytes;
    // A guard that cannot be had (too many mappings) costs a clear crash, not a right result.
    (void)mprotect(bottom, guard_bytes, PROT_NONE);
    const std::size_t usable = stack_bytes - slot % stagger_steps * stagger_bytes;
    free_.push_back({bottom + guard_bytes + usable, usable, guard_bytes});
  }
}

bool StackPool::holds(const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  return std::any_of(mappings_.begin(), mappings_.end(), [&](const Mapping& mapping) {
    const auto* const begin = static_cast<const std::byte*>(mapping.begin);
    return byte >= begin && byte < begin + mapping.bytes;
  });
}

}  // namespace tw::vgpu
