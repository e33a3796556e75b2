/* The types of the C interface that every family uses. */
#ifndef TILEWRIGHT_TYPES_H
#define TILEWRIGHT_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef enum tw_type {
  TW_BF16 = 0,
  TW_FP16 = 1,
  TW_FP32 = 2,
  TW_TF32 = 3, /* float32 in memory; 10 bits of the fraction are multiplied */
  TW_E4M3 = 4,
  TW_E5M2 = 5,
  TW_S8 = 6,
  TW_S32 = 7,
  TW_E2M1 = 8, /* elements below a byte are packed, the first in the lowest bits */
  TW_E2M3 = 9,
  TW_E3M2 = 10
} tw_type;

/* Strides count elements. One of row_stride and column_stride must be 1 (any value where the extent
 * is 1); of outputs and sources it is column_stride. batch_stride 0: all matrices of the batch
 * share one (inputs only). */
typedef struct tw_matrix {
  void* data;
  int64_t row_stride;
  int64_t column_stride;
  int64_t batch_stride;
  tw_type type;
} tw_matrix;

#endif /* TILEWRIGHT_TYPES_H */
