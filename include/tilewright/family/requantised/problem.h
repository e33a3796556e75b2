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
} tw_requantised_problem;

#endif /* TILEWRIGHT_FAMILY_REQUANTISED_PROBLEM_H */
