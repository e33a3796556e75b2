/* What a caller of combine states. */
#ifndef TILEWRIGHT_FAMILY_COMBINE_PROBLEM_H
#define TILEWRIGHT_FAMILY_COMBINE_PROBLEM_H

#include "tilewright/types.h"

/* output[token] = the sum over i below k of weights[token][i] * source[places[token][i]], plus
 * addend[token]: what the experts of each token made becomes one row again. Products are added up
 * in float32 in the order of i, each by one fused operation, the addend last. */
typedef struct tw_combine_problem {
  size_t size;     /* this struct's: what tw_combine_init wrote */
  uint64_t family; /* likewise */
  int64_t tokens;
  int64_t columns;
  int64_t k;                /* rows of each token; 2 */
  int64_t rows;             /* the source has so many */
  tw_matrix source, output; /* rows, and tokens, by columns: bf16 or fp16, rows contiguous */
  tw_matrix addend;         /* tokens by columns, likewise; data null: none */
  /* On the device, tokens by k. A place that the source does not have, below 0 or behind its last
   * row, is left out. */
  const float* weights; /* null: all are 1 */
  const int32_t* places;
} tw_combine_problem;

#endif /* TILEWRIGHT_FAMILY_COMBINE_PROBLEM_H */
