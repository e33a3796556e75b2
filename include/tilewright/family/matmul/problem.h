/* A product of matrices, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_MATMUL_PROBLEM_H
#define TILEWRIGHT_FAMILY_MATMUL_PROBLEM_H

#include "tilewright/types.h"

/* D = epilogue(A B), for each matrix of the batch: A is m by k, B is k by n, D is m by n. */
typedef struct tw_matmul_problem {
  size_t size;     /* of this struct: what tw_matmul_init wrote */
  uint64_t family; /* likewise */
  int64_t m, n, k, batch;
  tw_matrix a, b, d;
  tw_epilogue epilogue;
  /* Whether B was complete before the work before this on the stream began: kernels of few rows
     then read its first tiles before that work has ended. */
  int b_is_constant;
} tw_matmul_problem;

#endif /* TILEWRIGHT_FAMILY_MATMUL_PROBLEM_H */
