/* The numbers that block-scaled elements stand for, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_BLOCK_DEQUANTISE_PROBLEM_H
#define TILEWRIGHT_FAMILY_BLOCK_DEQUANTISE_PROBLEM_H

#include "tilewright/scale_type.h"
#include "tilewright/types.h"

/* Values of a matrix of m by k: elements times their scales, which tw_block_quantise_problem makes.
 * docs/block_scales.md. */
typedef struct tw_block_dequantise_problem {
  size_t size;     /* this struct's: what tw_block_dequantise_init wrote */
  uint64_t family; /* likewise */
  int64_t m;
  int64_t k;
  tw_matrix elements; /* e4m3, e5m2, e2m3, e3m2 or e2m1, rows contiguous */
  tw_matrix values;   /* bf16, fp16 or fp32, rows contiguous */
  tw_scale_type scale;
  float tensor_scale; /* NVFP4: what everything is multiplied with; 1 */
  const void* scales; /* laid out like those of tw_block_quantise_problem */
  tw_scale_order scale_order;
} tw_block_dequantise_problem;

#endif /* TILEWRIGHT_FAMILY_BLOCK_DEQUANTISE_PROBLEM_H */
