// What the virtual GPU must implement for Blackwell's tensor memory and its matrix products.
#pragma once

#include <cstdint>

#include "tilewright/isa/model.h"

namespace tw {

// A place in tensor memory: the lane in the upper 16 bits, the column (of 32 bits) in the lower.
using TensorAddress = std::uint32_t;

// The .kind of a tcgen05.mma: which formats the instruction descriptor chooses from, and how many
// bytes an element of A and B takes in shared memory (2, 4, 1, 1).
enum class MmaKind : std::uint8_t { F16, Tf32, F8F6F4, I8 };

// The forms of tcgen05.cp that we use.
enum class TensorCopy : std::uint8_t { Lanes32Bits128Times4, Lanes128Bits256 };

}  // namespace tw

#if TW_MODELLED
namespace tw::model {

void tcgen05_alloc(SharedAddress destination, unsigned columns, unsigned cta_group);
void tcgen05_dealloc(TensorAddress address, unsigned columns, unsigned cta_group);
void tcgen05_relinquish_alloc_permit(unsigned cta_group);

void tcgen05_mma(MmaKind kind, unsigned cta_group, TensorAddress d, std::uint64_t a,
                 std::uint64_t b, std::uint32_t instruction, bool accumulate);
// A product whose A lies in tensor memory, a row to a lane, 8 columns of it; of one CTA.
void tcgen05_mma_tensor_a(MmaKind kind, TensorAddress d, TensorAddress a, std::uint64_t b,
                          std::uint32_t instruction, bool accumulate);
void tcgen05_cp(TensorCopy form, unsigned cta_group, TensorAddress destination,
                std::uint64_t source);
// `mask` 0 means the barrier at this address alone; otherwise bit r stands for the CTA of rank r,
// and the barrier is taken at the same offset in each.
void tcgen05_commit(unsigned cta_group, SharedAddress barrier, std::uint16_t mask);

void tcgen05_fence_before_thread_sync();
void tcgen05_fence_after_thread_sync();

// The registers of a load hold poison until tcgen05_wait_load: they must stay where they are.
void tcgen05_load(std::uint32_t* values, unsigned count, TensorAddress source);
void tcgen05_store(TensorAddress destination, const std::uint32_t* values, unsigned count);
void tcgen05_wait_load();
void tcgen05_wait_store();

// TMA loads whose barrier may lie in the destination's CTA or in its peer. With a mask, each
// destination's pair is signalled in the CTA with the parity of the one that `barrier` lies in.
void tma_load_pair(SharedAddress destination, const TensorMap* map, SharedAddress barrier,
                   const int* coordinates, unsigned rank, std::uint16_t mask);

}  // namespace tw::model
#endif
