/* What a caller of rms_norm states. */
#ifndef TILEWRIGHT_FAMILY_RMS_NORM_PROBLEM_H
#define TILEWRIGHT_FAMILY_RMS_NORM_PROBLEM_H

#include "tilewright/types.h"

/* output = weight * y / sqrt(mean of y^2 + epsilon) for each row y: of the source; or of source +
 * residual, rounded to their type, which is then written to sum. All have one type. */
typedef struct tw_rms_norm_problem {
  size_t size;     /* this struct's: what tw_rms_norm_init wrote */
  uint64_t family; /* likewise */
  int64_t m;
  int64_t k;
  float epsilon;            /* 1e-5 */
  tw_matrix source, output; /* m by k, bf16 or fp16, rows contiguous */
  tw_matrix residual, sum;  /* likewise; data null: neither */
  const void* weight;       /* k elements */
  tw_type weight_type;
} tw_rms_norm_problem;

#endif /* TILEWRIGHT_FAMILY_RMS_NORM_PROBLEM_H */
