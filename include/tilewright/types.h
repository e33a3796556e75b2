/* The types of the C interface that families share, and the product that other problems contain. */
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

typedef enum tw_activation {
  TW_NONE = 0,
  TW_RELU = 1,
  TW_GELU = 2, /* by the error function */
  TW_SILU = 3,
  TW_TANH = 4,
  TW_CLAMP = 5
} tw_activation;

/* value  = alpha * row_scale[row] * column_scale[column] * sum + beta * source
 *          + column_bias[column] + row_bias[row]
 * value  = activation(value); gated: activation(value of an even column) * value of the next
 * auxiliary = value before the activation; *amax = max(*amax, |value|)
 * output = value * output_scale, cast. What is null is left out. */
typedef struct tw_epilogue {
  float alpha;
  float beta;
  float output_scale;
  float clamp_low;
  float clamp_high;
  tw_activation activation;
  int gated;               /* d and source have n / 2 columns */
  tw_matrix source;        /* C, or a residual: bf16, fp16 or fp32, rows contiguous */
  tw_type bias_type;       /* both biases': bf16, fp16 or fp32 */
  const void* column_bias; /* n values */
  const void* row_bias;    /* m values */
  const float* column_scale;
  const float* row_scale;
  tw_matrix auxiliary; /* bf16, fp16 or fp32, rows contiguous */
  float* amax;         /* on the device; the caller sets it to 0 before */
} tw_epilogue;

/* Scales of blocks of 128 of k: float32, one of row_stride and k_stride 1 (any value where the
 * extent is 1), aligned to their 4 bytes. */
typedef struct tw_scales {
  const void* data;
  int64_t rows;     /* A has m, B has n, or ceil(n / 128), where 128 columns share one */
  int64_t k_blocks; /* ceil(k / 128) */
  int64_t row_stride;
  int64_t k_stride;
  int64_t batch_stride; /* 0: all matrices of the batch share them */
  tw_type type;         /* TW_FP32 */
} tw_scales;

/* D = epilogue(A B), for each matrix of the batch: A is m by k, B is k by n, D is m by n. */
typedef struct tw_matmul_problem {
  size_t size;     /* this struct's: what tw_matmul_init wrote */
  uint64_t family; /* likewise */
  int64_t m, n, k, batch;
  tw_matrix a, b, d;
  tw_epilogue epilogue;
  /* Whether B was complete before the work before this on the stream began: kernels of few rows
     then read its first tiles before that work has ended. */
  int b_is_constant;
} tw_matmul_problem;

#endif /* TILEWRIGHT_TYPES_H */
