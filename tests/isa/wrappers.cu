// One call of every wrapper that mma.sync kernels and their epilogues use.
#include "tilewright/isa/ptx/cluster_memory.h"
#include "tilewright/isa/ptx/convert.h"
#include "tilewright/isa/ptx/counter.h"
#include "tilewright/isa/ptx/cp_async.h"
#include "tilewright/isa/ptx/exponential.h"
#include "tilewright/isa/ptx/grid.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/warp_matrix.h"

namespace {

using namespace tw;

struct Params {
  const void* source;
  std::uint32_t* words;
  float* floats;
  SharedAddress shared;
  unsigned count;
};

}  // namespace

__global__ void exponentials(Params params) {
  params.floats[0] = isa::ex2_approx(params.floats[2]);
  params.floats[1] = isa::lg2_approx(params.floats[3]);
}

__global__ void copies(Params params) {
  isa::cp_async<4>(params.shared, params.source, params.count);
  isa::cp_async<8>(params.shared + 8, params.source, params.count);
  isa::cp_async<16>(params.shared + 16, params.source, params.count);
  isa::cp_async_commit_group();
  isa::cp_async_wait_group<2>();
  isa::cp_async_wait_group<0>();
  isa::cp_async_mbarrier_arrive_noinc(params.shared + 64);
}

__global__ void __launch_bounds__(384, 1) barriers(Params params) {
  if (isa::elect_one()) isa::mbarrier_init(params.shared, 32);
  isa::fence_mbarrier_init();
  isa::barrier_sync(0, 32);
  isa::mbarrier_arrive(params.shared);
  while (!isa::mbarrier_try_wait_parity(params.shared, 0)) {
  }
  isa::fence_proxy_async();
  isa::setmaxnreg_decrease<40>();
  isa::setmaxnreg_increase<240>();
  params.words[0] = isa::cluster_rank();
}

template <MmaType type>
__device__ void multiply(const Params& params) {
  std::uint32_t a[4], b[4];
  isa::ldmatrix_x4(a, params.shared);
  isa::ldmatrix_x4_transposed(b, params.shared + 512);
  isa::MmaSum<type> d[4] = {};
  const std::uint32_t first[2] = {b[0], b[1]};
  isa::mma_sync<type>(d, a, first);
  for (int i = 0; i < 4; ++i) params.floats[i] = static_cast<float>(d[i]);
}

__global__ void products(Params params) {
  multiply<MmaType::Bf16>(params);
  multiply<MmaType::F16>(params);
  multiply<MmaType::Tf32>(params);
  multiply<MmaType::S8>(params);
}

__global__ void conversions(Params params) {
  const float lower = params.floats[0], upper = params.floats[1];
  const auto pair = static_cast<std::uint16_t>(params.count);
  params.words[0] = isa::cvt_f16x2_e4m3x2(pair);
  params.words[1] = isa::cvt_f16x2_e5m2x2(pair);
  params.words[2] = isa::cvt_f16x2(lower, upper);
  params.words[3] = isa::cvt_e4m3x2(lower, upper);
  params.words[4] = isa::cvt_e5m2x2(lower, upper);
  params.words[5] = static_cast<std::uint32_t>(isa::cvt_s32(lower));
  params.words[6] = static_cast<std::uint32_t>(isa::cvt_s8(lower));
}

__global__ void counters(Params params) {
  isa::counter_init(params.shared);
  isa::counter_add_release(params.shared, 2);
  isa::counter_wait_at_least(params.shared, params.count);
  isa::global_add_release(params.words, 1);
  isa::global_store_release(params.words + 1, 7);
  isa::global_wait_at_least(params.words, params.count);
  params.words[3] = isa::global_fetch_add(params.words + 2, 1);
  isa::global_atomic_max_float_bits(params.words + 4, params.count);
}

__global__ void shared_memory(Params params) {
  std::uint32_t two[2], four[4];
  isa::load_shared_8(two, params.shared);
  isa::load_shared_16(four, params.shared + 16);
  isa::store_shared_2(params.shared + 32, static_cast<std::uint16_t>(params.count));
  isa::store_shared_4(params.shared + 36, isa::load_shared_4(params.shared + 4));
  isa::store_shared_8(params.shared + 40, two);
  isa::store_shared_16(params.shared + 48, four);
}

__global__ void grids(Params params) {
  isa::griddepcontrol_wait();
  params.words[0] = 1;
  isa::griddepcontrol_launch_dependents();
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__global__ void clusters(Params params) {
  const SharedAddress peer = isa::mapa(params.shared, 1);
  std::uint32_t four[4];
  isa::load_cluster(four, peer);
  isa::store_cluster(peer + 16, isa::load_cluster(peer + 32));
  isa::store_cluster(peer + 48, four);
  isa::st_async(peer + 64, params.count, peer + 128);
  isa::st_async(peer + 80, four, peer + 128);
  isa::mbarrier_arrive_release_cluster(peer + 136);
  while (!isa::mbarrier_try_wait_parity_cluster(params.shared + 128, 0)) {
  }
  isa::cluster_arrive_release();
  isa::cluster_wait();
}
#endif
