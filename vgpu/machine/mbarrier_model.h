// What copies do to mbarriers.
#pragma once

#include "vgpu/machine/engine.h"

namespace tw::vgpu {

std::string barrier_name(const Mbarrier& barrier);  // "full stage 2 of CTA 0"

// The barrier at this place for an instruction of the running thread; reports and abandons the
// thread if it is misaligned, was never initialised, or its CTA has exited. Copies signal through
// the async proxy.
enum class BarrierUse { Threads, Copies };
Mbarrier& usable_mbarrier(Engine& machine, SharedPlace place, BarrierUse use,
                          const char* instruction);

// The cp.async copies of a thread up to this epoch have landed, and arrive.
void arrive_for_copies(Engine& machine, const Thread& thread, Mbarrier& barrier, Epoch epoch,
                       std::uint64_t time);

// The tcgen05 products and copies of a thread before its commit are done: the commit arrives, with
// what the thread knew when it committed.
void arrive_for_products(Engine& machine, const TensorPipeline& pipeline, Mbarrier& barrier,
                         const ThreadView& view, std::uint64_t time);

// Bytes of a copy have landed.
void complete_transaction(Engine& machine, Mbarrier& barrier, std::uint32_t bytes,
                          std::uint64_t time);

}  // namespace tw::vgpu

namespace tw::model {

// mbarrier.test_wait, which never sleeps. isa/ptx has try_wait alone: its kernels only wait.
bool mbarrier_test_wait_parity(SharedAddress barrier, unsigned parity);

}  // namespace tw::model
