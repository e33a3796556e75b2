/* Quantising to the block-scaled formats, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_BLOCK_QUANTISE_PROBLEM_H
#define TILEWRIGHT_FAMILY_BLOCK_QUANTISE_PROBLEM_H

#include "tilewright/scale_type.h"
#include "tilewright/types.h"

typedef enum tw_scale_rule {
  TW_SCALE_FLOOR = 0, /* OCP's: the largest power of two below amax, and elements saturate */
  TW_SCALE_RCEIL = 1  /* the smallest power of two with which no element saturates */
} tw_scale_rule;

/* Elements and scales of a matrix of m by k: elements of fewer than 8 bits are packed.
 * docs/block_scales.md. */
typedef struct tw_block_quantise_problem {
  size_t size;     /* this struct's: what tw_block_quantise_init wrote */
  uint64_t family; /* likewise */
  int64_t m;
  int64_t k;
  tw_matrix source;   /* bf16, fp16 or fp32, rows contiguous */
  tw_matrix elements; /* e4m3, e5m2, e2m3, e3m2 or e2m1, rows contiguous */
  tw_scale_type scale;
  tw_scale_rule rule; /* for ue8m0 */
  float tensor_scale; /* NVFP4: by what the source is divided; 1 */
  void* scales;       /* blocks: ceil(m / 128) * ceil(k / (4 block)) * 512 bytes;
                       * rows: m * ceil(k / block) */
  tw_scale_order scale_order;
} tw_block_quantise_problem;

#endif /* TILEWRIGHT_FAMILY_BLOCK_QUANTISE_PROBLEM_H */
