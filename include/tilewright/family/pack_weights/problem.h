/* Four-bit weights of a checkpoint, packed for products with them, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_PACK_WEIGHTS_PROBLEM_H
#define TILEWRIGHT_FAMILY_PACK_WEIGHTS_PROBLEM_H

#include "tilewright/types.h"
#include "tilewright/weight_format.h"

/* Which eight codes a word of 32 bits has. */
typedef enum tw_code_order {
  /* Eight of k, the first in the lowest bits. GPTQ's words [k / 8, n] have row_stride 1; those of
   * compressed-tensors [n, k / 8], and the bytes [n, k / 2] of MXFP4 and NVFP4, column_stride 1. */
  TW_CODES_ALONG_K = 0,
  /* Eight of n, from the lowest bits on 0, 2, 4, 6, 1, 3, 5, 7, and zero points likewise: AWQ's
   * words [k, n / 8] have row_stride 1. */
  TW_CODES_OF_AWQ = 1
} tw_code_order;

/* Weights of n outputs by k inputs, packed once for many products (docs/four_bit.md). tw_extents
 * tells the bytes of `packed`, as rows and columns. */
typedef struct tw_pack_weights_problem {
  size_t size;     /* this struct's: what tw_pack_weights_init wrote */
  uint64_t family; /* likewise */
  int64_t n, k;
  int64_t batch; /* experts, packed one behind the other */
  tw_weight_format format;
  int64_t group;      /* so many of k share a scale: MXFP4 32, NVFP4 16, int4 32, 64, 128 i or k */
  tw_type activation; /* what they will be multiplied with: bf16, fp16, or e4m3 (MXFP4 alone) */
  /* MXFP4: packed are weights times 2^-exponent, and a product's alpha makes up for it. A scale
   * above 2^(exponent + 1), or below 2^(exponent - 132) (fp16: 2^(exponent - 23)), becomes NaN,
   * unless all of its weights are 0; for e4m3, one above 2^(exponent + 6) or below
   * 2^(exponent - 5). */
  int64_t exponent;
  tw_code_order order;
  /* TW_INT4_ZEROS: what zero points are above what is stored: 1 of GPTQ; 0 of the others, and of
   * GPTQ's second version. */
  int64_t zero_offset;
  tw_matrix codes;  /* TW_S32: n by k / 8, or n / 8 by k, either side contiguous */
  tw_matrix scales; /* n by k / group, either side contiguous: MXFP4 ue8m0 (as TW_S8), NVFP4 e4m3,
                     * int4 the activations' type */
  tw_matrix zeros;  /* TW_INT4_ZEROS, TW_S32: n / 8 by k / group, either side contiguous */
  void* packed;     /* aligned to 16 bytes */
} tw_pack_weights_problem;

#endif /* TILEWRIGHT_FAMILY_PACK_WEIGHTS_PROBLEM_H */
