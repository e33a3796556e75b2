/* What a caller of the quantiser states. */
#ifndef TILEWRIGHT_FAMILY_QUANTISE_PROBLEM_H
#define TILEWRIGHT_FAMILY_QUANTISE_PROBLEM_H

#include "tilewright/types.h"

/* Elements and scales of a matrix of m by k, for each matrix of the batch: what FP8 with scales of
 * blocks multiplies. A scale is of scale_rows rows and 128 of k. docs/scales.md says which numbers
 * come out. Without scales the elements are those of the source, whose rows may begin elsewhere. */
typedef struct tw_quantise_problem {
  size_t size;     /* this struct's: what tw_quantise_init wrote */
  uint64_t family; /* likewise */
  int64_t m, k, batch;
  int64_t scale_rows; /* 1 or 128; 0: no scales */
  tw_matrix source;   /* bf16, fp16 or fp32, rows contiguous */
  tw_matrix elements; /* e4m3 or e5m2, or without scales as the source; rows contiguous */
  tw_matrix scales;   /* ceil(m / scale_rows) by ceil(k / 128), fp32, rows or columns contiguous */
  int powers_of_two;  /* scales are rounded up to such */
} tw_quantise_problem;

#endif /* TILEWRIGHT_FAMILY_QUANTISE_PROBLEM_H */
