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

// Instructions that isa/ptx does not have: bytes expected without an arrival, an arrival that
// counts for several and tells the phase that it was in, and the end of a barrier.
void mbarrier_expect_tx(SharedAddress barrier, unsigned bytes);
std::uint64_t mbarrier_arrive_counted(SharedAddress barrier, unsigned count);
void mbarrier_invalidate(SharedAddress barrier);
// An arrival with the scope of the CTA at a barrier of any CTA.
void mbarrier_arrive_expect_tx_peer(SharedAddress barrier, unsigned bytes);

}  // namespace tw::model
