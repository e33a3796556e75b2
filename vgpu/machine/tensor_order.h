// Who may touch which part of tensor memory now.
#pragma once

#include <string>

#include "vgpu/machine/engine.h"
#include "vgpu/machine/tensor_memory.h"

namespace tw::vgpu {

// An access, as it is issued.
struct TensorAccess {
  const char* what;  // "tcgen05.mma"
  TensorUse use;
  bool reads, writes;
  const Clock* known = nullptr;        // what is ordered before it by fence::after_thread_sync
  const Clock* heard = nullptr;        // what the thread has heard at all
  TensorPipeline* pipeline = nullptr;  // that a product or a copy was issued to
  Warp* warp = nullptr;                // that loads or stores
  std::uint32_t shape = 0;             // a product's shape
  // It comes behind all products and copies of its own thread, as those of CUTLASS's block-scaled
  // products do. PTX promises it of copies before products alone, and kernels of ours count on no
  // more.
  bool in_order = false;
  Epoch epoch = 0;
  std::uint64_t step = ~std::uint64_t{0};  // the k-tile that a copy brings
};

// Everything that an instruction asks of a CTA's tensor memory first: there is one, its group of
// CTAs is the kernel's, and the columns are allocated. Reports and abandons if not.
TensorMemory& tensor_memory(Engine& machine, Cta& cta, unsigned cta_group, const char* instruction);
void check_allocated(Engine& machine, const TensorRegion& region, const char* instruction);

// Judges the access against what was done to the region before, and notes it. Products that may
// overtake nothing of other threads are told whom to follow.
void judge(Engine& machine, const TensorRegion& region, const TensorAccess& access,
           std::vector<TensorOp::After>* after);
// What is done to these cells is known to be over; says why not.
void check_quiet(Engine& machine, const TensorRegion& region, const ClockRef& known,
                 const char* instruction);

// The running thread's warp has reached this point; the thread tells whoever hears of it.
void spread(Engine& machine, Thread& thread, TensorTrack& track, TensorNews news, Epoch epoch);

TensorPipeline& pipeline_of(Engine& machine, Thread& thread);
std::string tensor_place(const Cta& cta, unsigned column);  // "column 32 of tensor memory of CTA 0"

// What a thread knows of tensor memory: what it had heard at its last
// tcgen05.fence::after_thread_sync. Of a text, all that it has heard: nvcc 13.0 makes nothing of
// tcgen05.fence, and CUTLASS and ThunderKittens have none behind the barriers of their products.
const ClockRef& fenced_knowledge(const Engine& machine, const Thread& thread);

}  // namespace tw::vgpu
