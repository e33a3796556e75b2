// Every wrapper of im2col copies, for sm_90a and sm_100a: it must assemble. Never run.
#include "tilewright/isa/ptx/im2col.h"

template <unsigned rank>
__device__ void copy_columns(tw::SharedAddress shared, const tw::TensorMap* map, int c,
                             std::uint16_t mask) {
  using namespace tw;
  const int at[rank] = {c, -1, 2, 3};
  const std::uint16_t offsets[rank - 2] = {1, 2};
  isa::cp_async_bulk_tensor_load_im2col(shared, map, shared, at, offsets,
                                        isa::CacheHint::EvictNormal);
  isa::cp_async_bulk_tensor_load_im2col_multicast(shared, map, shared, at, offsets, mask,
                                                  isa::CacheHint::EvictFirst);
}

__global__ void columns(tw::SharedAddress shared, const tw::TensorMap* map, int c,
                        std::uint16_t mask) {
  copy_columns<4>(shared, map, c, mask);
  copy_columns<5>(shared, map, c, mask);
}
