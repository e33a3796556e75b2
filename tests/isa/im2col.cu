// Every wrapper of im2col copies, for sm_90a and sm_100a: it must assemble. Never run.
#include "tilewright/isa/ptx/im2col.h"

__global__ void columns(tw::SharedAddress shared, const tw::TensorMap* map, int c,
                        std::uint16_t mask) {
  using namespace tw;
  const int at[4] = {c, -1, 2, 3};
  const std::uint16_t offsets[2] = {1, 2};
  isa::cp_async_bulk_tensor_load_im2col(shared, map, shared, at, offsets,
                                        isa::CacheHint::EvictNormal);
  isa::cp_async_bulk_tensor_load_im2col_multicast(shared, map, shared, at, offsets, mask,
                                                  isa::CacheHint::EvictFirst);
}
