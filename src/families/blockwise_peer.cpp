// A function of another library in the peer's place: FP8 with scales of blocks.
#include "src/bench/peers/peers.h"
#include "tilewright/family/blockwise/family.h"

namespace tw::bench {

namespace {

using Function = int (*)(void* d, const void* a, const void* b, const float* a_scales,
                         const float* b_scales, std::int64_t m, std::int64_t n, std::int64_t k,
                         std::int64_t a_row_stride, std::int64_t a_block_stride,
                         std::int64_t b_row_stride, std::int64_t b_block_stride, void* stream);

int call(void* function, const Buffers& buffers, int set, void* stream) {
  const tw_blockwise_problem& problem = buffers.problem(set).as<tw_blockwise_problem>();
  const tw_matmul_problem& matmul = problem.matmul;
  const tw_scales &a = problem.a_scales, &b = problem.b_scales;
  return reinterpret_cast<Function>(function)(
      matmul.d.data, matmul.a.data, matmul.b.data, static_cast<const float*>(a.data),
      static_cast<const float*>(b.data), matmul.m, matmul.n, matmul.k, a.row_stride, a.k_stride,
      b.row_stride, b.k_stride, stream);
}
const RegisteredFunction registered({"blockwise", call});

}  // namespace

}  // namespace tw::bench
