/* Activations by weights of four bits, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_FOUR_BIT_PROBLEM_H
#define TILEWRIGHT_FAMILY_FOUR_BIT_PROBLEM_H

#include "tilewright/types.h"
#include "tilewright/weight_format.h"

/* D = epilogue(A W): A is m by k, W is k by n and packed, as tw_pack_weights does it
 * (docs/four_bit.md). NVFP4's scales of whole tensors go into alpha. */
typedef struct tw_four_bit_problem {
  size_t size;     /* this struct's: what tw_four_bit_init wrote */
  uint64_t family; /* likewise */
  int64_t m, n, k;
  int64_t batch;       /* products side by side, each with weights of its own */
  tw_matrix a;         /* bf16, fp16 or e4m3, as the weights were packed for; rows contiguous */
  const void* weights; /* aligned to 16 bytes; those of a batch one behind the other */
  tw_weight_format format;
  int64_t scale_group; /* so many of k share a scale: MXFP4 32, NVFP4 16, int4 32, 64 or 128 */
  int64_t exponent;    /* MXFP4's, as the weights were packed; elsewhere 0 */
  tw_matrix d;         /* its type is A's; bf16 where A is e4m3 */
  tw_epilogue epilogue;
  /* Whether the weights were complete before the work before this on the stream began: kernels then
   * read the first of them before that work has ended. */
  int weights_are_constant;
  /* On the device, one for each group of rows, or null: the row behind its last, groups lying one
   * behind the other. D[row] is then made with the weights of its group: m counts the rows of all,
   * batch the groups, and A and D are one matrix each. No host reads it. Rows of no group are left
   * alone. */
  const int32_t* rows;
  /* A of e4m3: a float for each row and each 128 of k, m by ceil(k / 128), either side contiguous;
   * data null: none. Sums are then float32 beyond 128 of k. Without `rows`. */
  tw_matrix a_scales;
  /* With `rows`: each group has room for so many rows of A and D, m = capacity * batch, and `rows`
   * says how many of them are there; 0: they lie one behind the other. */
  int64_t capacity;
  /* With `rows`, on the device, one for each row of D: the row of A that it is made of; zeros where
   * A has no such row. Null: its own. */
  const int32_t* row_index;
  int64_t a_rows; /* rows of A, where there is a row_index */
} tw_four_bit_problem;

#endif /* TILEWRIGHT_FAMILY_FOUR_BIT_PROBLEM_H */
