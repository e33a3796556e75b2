/* A product in groups, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_GROUPED_PROBLEM_H
#define TILEWRIGHT_FAMILY_GROUPED_PROBLEM_H

#include "tilewright/scale_type.h"
#include "tilewright/types.h"

/* D[row] = epilogue(A[row] B[group of the row]). Rows of no group are left alone. matmul.m counts
 * the rows of all groups, matmul.batch the groups; batch strides are B's alone. docs/groups.md. */
typedef struct tw_grouped_problem {
  size_t size;     /* this struct's: what tw_grouped_init wrote */
  uint64_t family; /* likewise */
  tw_matmul_problem matmul;
  /* On the device, one for each group: the row behind its last, groups lying one behind the other;
   * with a capacity, how many rows are there of each group's. No host reads it. */
  const int32_t* rows;
  int64_t capacity; /* rows of each group: m = capacity * groups; 0: one behind the other */
  /* On the device, one for each row of D: the row of A that it is made of; zeros where A has no
   * such row. Null: its own. */
  const int32_t* row_index;
  int64_t a_rows;             /* rows of A, where there is a row_index */
  tw_scales a_scales;         /* FP8 with scales of blocks: all rows of A; data null: none */
  tw_scales b_scales;         /* each group's B, batch_stride apart */
  tw_scale_type scale;        /* MXFP8, 6, 4 and NVFP4: see tw_block_scaled_problem */
  const void* a_block_scales; /* all rows of A; null: none */
  const void* b_block_scales; /* each group's B, one group's behind the other's */
} tw_grouped_problem;

#endif /* TILEWRIGHT_FAMILY_GROUPED_PROBLEM_H */
