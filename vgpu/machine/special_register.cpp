// Special registers and the shared memory window.
#include <fmt/format.h>

#include "tilewright/isa/model/tensor_memory.h"
#include "vgpu/machine/engine.h"

namespace tw::model {

using namespace vgpu;

unsigned thread_index() { return engine().current().index; }
unsigned cta_index() { return engine().current().cta->index; }
unsigned cta_count() { return engine().launch.ctas; }
unsigned cluster_rank() { return engine().current().cta->rank; }
unsigned cluster_size() { return engine().launch.cluster_size; }
std::uint64_t global_timer() { return engine().enter().time / 1000; }

void* dynamic_shared() { return const_cast<std::byte*>(engine().current().cta->kernel_view()); }

SharedAddress shared_address(const void* pointer) {
  Engine& machine = engine();
  const Cta& cta = *machine.current().cta;
  const auto* byte = static_cast<const std::byte*>(pointer);
  // One past the end is an address, too.
  const std::byte* const begin = cta.kernel_view();
  if (byte >= begin && byte <= begin + cta.shared_bytes) {
    return cta.rank << window_rank_shift |
           (window_begin + static_cast<SharedAddress>(byte - begin));
  }
  machine.report(Checker::Bounds, -1, "shared_address", [&] {
    return fmt::format(
        "The {} asks for the shared address of a pointer outside its CTA's {} bytes of shared "
        "memory.",
        who(machine.current()), cta.shared_bytes);
  });
  machine.abandon();
}

SharedAddress mapa(SharedAddress address, unsigned rank) {
  Engine& machine = engine();
  machine.resolve(address, 0, "mapa");
  if (rank >= machine.launch.cluster_size) {
    machine.report(Checker::Bounds, -1, "mapa", [&] {
      return fmt::format("The {} maps an address to rank {} of a cluster of {} CTAs.",
                         who(machine.current()), rank, machine.launch.cluster_size);
    });
    machine.abandon();
  }
  return rank << window_rank_shift | (address & window_offset_mask);
}

}  // namespace tw::model
