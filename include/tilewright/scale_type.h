/* The types of block scales, in the C interface. */
#ifndef TILEWRIGHT_SCALE_TYPE_H
#define TILEWRIGHT_SCALE_TYPE_H

typedef enum tw_scale_type {
  TW_UE8M0 = 0, /* powers of two, one for 32 elements of k: MXFP8, MXFP6 and MXFP4 */
  TW_UE4M3 = 1  /* one for 16 elements of k: NVFP4, which has a scale for each whole tensor, too */
} tw_scale_type;

/* Where block scales lie. */
typedef enum tw_scale_order {
  TW_SCALES_IN_BLOCKS = 0, /* blocks are 128 rows by four of k, which block-scaled products take */
  TW_SCALES_IN_ROWS = 1    /* those of a row behind each other, rows without gaps */
} tw_scale_order;

#endif /* TILEWRIGHT_SCALE_TYPE_H */
