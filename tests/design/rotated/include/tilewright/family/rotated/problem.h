/* A product of rotated rows, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_ROTATED_PROBLEM_H
#define TILEWRIGHT_FAMILY_ROTATED_PROBLEM_H

#include "tilewright/types.h"

/* D = epilogue(A' B), where row i of A' is row (i + shift) mod m of A. */
typedef struct tw_rotated_problem {
  size_t size;     /* this struct's: what tw_rotated_init wrote */
  uint64_t family; /* likewise */
  tw_matmul_problem matmul;
  int64_t shift;
} tw_rotated_problem;

#endif /* TILEWRIGHT_FAMILY_ROTATED_PROBLEM_H */
