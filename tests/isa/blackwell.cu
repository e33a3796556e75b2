// Every wrapper of an sm_100a instruction, instantiated: it must assemble. Never run.
#include "tilewright/isa/ptx/launch_control.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/tcgen05_descriptor.h"
#include "tilewright/isa/ptx/tcgen05_scaled.h"
#include "tilewright/isa/ptx/tma_pair.h"

namespace {

using namespace tw;

template <unsigned group>
__device__ void issue(SharedAddress shared, TensorAddress tensor, std::uint64_t descriptor) {
  isa::tcgen05_alloc<group>(shared, 512);
  isa::tcgen05_relinquish_alloc_permit<group>();
  constexpr isa::MmaFields fields{
      .m = 128, .n = 256, .a = isa::mma_format::bf16, .b = isa::mma_format::bf16};
  constexpr std::uint32_t instruction = isa::tcgen05_instruction_descriptor(fields);
  isa::tcgen05_mma<MmaKind::F16, group>(tensor, descriptor, descriptor, instruction, false);
  isa::tcgen05_mma<MmaKind::Tf32, group>(tensor, descriptor, descriptor, instruction, true);
  isa::tcgen05_mma<MmaKind::F8F6F4, group>(tensor, descriptor, descriptor, instruction, true);
  isa::tcgen05_mma<MmaKind::I8, group>(tensor, descriptor, descriptor, instruction, true);
  isa::tcgen05_mma_scaled<ScaledMmaKind::Mxf8f6f4, group>(tensor, descriptor, descriptor,
                                                          instruction, tensor, tensor, false);
  isa::tcgen05_mma_scaled<ScaledMmaKind::Mxf4, group>(tensor, descriptor, descriptor, instruction,
                                                      tensor, tensor, true);
  isa::tcgen05_mma_scaled<ScaledMmaKind::Mxf4nvf4, group>(tensor, descriptor, descriptor,
                                                          instruction, tensor, tensor, true);
  isa::tcgen05_cp_32x128b_warpx4<group>(tensor, descriptor);
  isa::tcgen05_cp_128x256b<group>(tensor, descriptor);
  isa::tcgen05_commit<group>(shared);
  isa::tcgen05_commit_multicast<group>(shared, 3);
  isa::tcgen05_dealloc<group>(tensor, 512);
}

template <unsigned count>
__device__ void move(TensorAddress tensor) {
  std::uint32_t values[count];
  isa::tcgen05_load<count>(values, tensor);
  isa::tcgen05_wait_load();
  isa::tcgen05_store<count>(tensor, values);
  isa::tcgen05_wait_store();
}

template <unsigned rank>
__device__ void copy(SharedAddress shared, const TensorMap* map, SharedAddress barrier) {
  const int at[rank] = {};
  isa::cp_async_bulk_tensor_load_pair<rank>(shared, map, isa::leader_barrier(barrier), at,
                                            isa::CacheHint::EvictNormal);
  isa::cp_async_bulk_tensor_load_pair_multicast<rank>(shared, map, isa::leader_barrier(barrier), at,
                                                      3, isa::CacheHint::EvictFirst);
}

}  // namespace

__global__ void one_cta(SharedAddress shared, TensorAddress tensor, std::uint64_t descriptor) {
  issue<1>(shared, tensor, descriptor);
  isa::tcgen05_fence_before_thread_sync();
  isa::tcgen05_fence_after_thread_sync();
  move<1>(tensor), move<2>(tensor), move<4>(tensor), move<8>(tensor);
  move<16>(tensor), move<32>(tensor), move<64>(tensor), move<128>(tensor);
}

__global__ void two_ctas(SharedAddress shared, TensorAddress tensor, std::uint64_t descriptor,
                         const TensorMap* map) {
  issue<2>(shared, tensor, descriptor);
  copy<1>(shared, map, shared), copy<2>(shared, map, shared), copy<3>(shared, map, shared);
  copy<4>(shared, map, shared), copy<5>(shared, map, shared);
}

__global__ void launch_control(SharedAddress response, SharedAddress barrier, unsigned* result) {
  isa::try_cancel(response, barrier);
  isa::try_cancel_multicast(response, barrier);
  isa::mbarrier_arrive_expect_tx_cluster(barrier, 16);
  const CancelResponse loaded = isa::load_cancel_response(response);
  if (isa::query_is_canceled(loaded)) *result = isa::query_first_cta_x(loaded);
}
