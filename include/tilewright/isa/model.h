// What the virtual GPU must implement: the model of every instruction that isa/ptx offers. vgpu/
// defines these functions; device builds never see them. Each acts for the calling GPU thread.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/address.h"
#include "tilewright/isa/wgmma_shape.h"

#if TW_MODELLED
namespace tw::model {

// Special registers.
unsigned thread_index();
unsigned cta_index();
unsigned cta_count();
unsigned cluster_rank();
unsigned cluster_size();
std::uint64_t global_timer();

// Shared memory of the own CTA, and its window addresses.
void* dynamic_shared();
SharedAddress shared_address(const void* pointer);
SharedAddress mapa(SharedAddress address, unsigned rank);

// Warps.
unsigned warp_lanes();
bool elect_one();
void warp_sync();
std::uint32_t shuffle(std::uint32_t value, unsigned source_lane);
void setmaxnreg(unsigned registers, bool increase);

// Named barriers (id 0 with all threads is __syncthreads) and the cluster barrier.
void barrier_sync(unsigned id, unsigned threads);
void barrier_arrive(unsigned id, unsigned threads);
void cluster_arrive();
void cluster_wait();

// mbarrier. try_wait sleeps until the phase with this parity has completed, then returns true.
void mbarrier_init(SharedAddress barrier, unsigned arrivals);
void fence_mbarrier_init();
void mbarrier_arrive(SharedAddress barrier);
void mbarrier_arrive_cluster(SharedAddress barrier);
void mbarrier_arrive_expect_tx(SharedAddress barrier, unsigned bytes);
bool mbarrier_try_wait_parity(SharedAddress barrier, unsigned parity);

// Proxies.
void fence_proxy_async();

// TMA tile copies. `mask` 0 means the own CTA alone; otherwise bit r stands for the CTA of rank r,
// and destination and barrier are taken at the same offsets in each.
void tma_load(SharedAddress destination, const TensorMap* map, SharedAddress barrier,
              const int* coordinates, unsigned rank, std::uint16_t mask);
// Plain bytes.
void bulk_load(SharedAddress destination, const void* source, std::uint32_t bytes,
               SharedAddress barrier, std::uint16_t mask);
// A column of pixels; `offsets` are the filter position's, of all coordinates but the first and
// last.
void tma_load_im2col(SharedAddress destination, const TensorMap* map, SharedAddress barrier,
                     const int* coordinates, const std::uint16_t* offsets, unsigned rank,
                     std::uint16_t mask);
void tma_store(const TensorMap* map, SharedAddress source, const int* coordinates, unsigned rank);
void tma_prefetch_map(const TensorMap* map);
void bulk_commit_group();
void bulk_wait_group_read(unsigned pending);

// wgmma. `fragment` is this thread's n/2 accumulators, float or std::int32_t; `a_registers` (of
// bf16, fp16 and e4m3) is null when A comes from shared memory through `a`.
void wgmma(const WgmmaShape& shape, void* fragment, std::uint64_t a,
           const std::uint32_t* a_registers, std::uint64_t b, bool accumulate);
void wgmma_fence();
void wgmma_commit_group();
void wgmma_wait_group(unsigned pending);
// A fragment is about to be read, written or to end its life: it must not be in flight.
// It is `count` registers of 32 bits.
void fragment_access(const void* fragment, unsigned count);

// What a report may call things. None of these changes what a program does.
void describe_role(const char* role);  // the calling thread plays this role from here on
void describe_barrier(SharedAddress barrier, const char* name, unsigned stage);
void describe_shared(SharedAddress begin, unsigned bytes, const char* name, unsigned stage);
void describe_step(
    unsigned step);       // the calling thread works on this k-tile, counted over all tiles
void describe_no_step();  // it works on stages of several rings, which count differently

// stmatrix: every lane gives the address of one 16-byte row; x1, x2, x4 matrices.
void stmatrix(SharedAddress row, const std::uint32_t* registers, unsigned matrices, bool transpose);

}  // namespace tw::model
#endif
