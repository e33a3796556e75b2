/* A product of elements with block scales, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_BLOCK_SCALED_PROBLEM_H
#define TILEWRIGHT_FAMILY_BLOCK_SCALED_PROBLEM_H

#include "tilewright/scale_type.h"
#include "tilewright/types.h"

/* D = epilogue(sum over k of (A a_scale) (B b_scale)). Elements are e4m3, e5m2, e2m3, e3m2 or e2m1;
 * those of fewer than 8 bits are packed and contiguous along k. Scales lie in blocks of 128 rows
 * (of B: columns) by four of k, 512 bytes each, which follow each other along k, then along rows,
 * then from matrix to matrix of the batch. NVFP4's scales of whole tensors go into alpha.
 * docs/block_scales.md. */
typedef struct tw_block_scaled_problem {
  size_t size;     /* this struct's: what tw_block_scaled_init wrote */
  uint64_t family; /* likewise */
  tw_matmul_problem matmul;
  tw_scale_type scale;
  const void* a_scales;
  const void* b_scales;
  /* Scales of D, which is then e4m3 with scales of ue8m0: the A of the next product. Those of rows
   * and columns that D does not have are left alone. Null: D is not quantised. */
  void* d_scales;
} tw_block_scaled_problem;

#endif /* TILEWRIGHT_FAMILY_BLOCK_SCALED_PROBLEM_H */
