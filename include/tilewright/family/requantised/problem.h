/* FP8 with scales of blocks and a quantised D, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_REQUANTISED_PROBLEM_H
#define TILEWRIGHT_FAMILY_REQUANTISED_PROBLEM_H

#include "tilewright/types.h"

/* A tw_blockwise_problem whose D is quantised: e4m3 with a scale for each 128 columns of a row, so
 * that D and its scales are A and its scales of the next product. docs/scales.md says which numbers
 * come out. */
typedef struct tw_requantised_problem {
  size_t size;     /* this struct's: what tw_requantised_init wrote */
  uint64_t family; /* likewise */
  tw_matmul_problem matmul;
  tw_scales a_scales;
  tw_scales b_scales;
  tw_matrix d_scales; /* m by ceil(n / 128), fp32, rows or columns contiguous */
  int powers_of_two;  /* scales of D are rounded up to such */
  /* 1: blocks of 128 columns of B are gate and up in turns, n is a multiple of 256, and D has half
   * of its columns, activation(gate) * up. The epilogue then has alpha and an activation alone. */
  int gated_blocks;
  /* Null, or where rows come in groups, one for each of `batch` matrices of B: an int32 for each
   * group in the device's memory, the row behind its last. */
  const int32_t* rows;
} tw_requantised_problem;

#endif /* TILEWRIGHT_FAMILY_REQUANTISED_PROBLEM_H */
