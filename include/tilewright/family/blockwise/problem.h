/* FP8 with scales of blocks, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_BLOCKWISE_PROBLEM_H
#define TILEWRIGHT_FAMILY_BLOCKWISE_PROBLEM_H

#include "tilewright/types.h"

/* D = epilogue(sum over blocks of 128 of k of a_scale * b_scale * (A B over that block)), with A
 * and B in e4m3 or e5m2. Sums are float32 beyond 128 of k, whatever fast_accumulation says.
 * docs/scales.md draws which scale belongs where. */
typedef struct tw_blockwise_problem {
  size_t size;     /* this struct's: what tw_blockwise_init wrote */
  uint64_t family; /* likewise */
  tw_matmul_problem matmul;
  tw_scales a_scales;
  tw_scales b_scales;
  /* All scales are such (of others the exponent may be taken): sm_100a then hands them to the
   * tensor core, and promotes no sums. */
  int powers_of_two;
} tw_blockwise_problem;

#endif /* TILEWRIGHT_FAMILY_BLOCKWISE_PROBLEM_H */
