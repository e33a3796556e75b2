/* The formats of four-bit weights, in the C interface. */
#ifndef TILEWRIGHT_WEIGHT_FORMAT_H
#define TILEWRIGHT_WEIGHT_FORMAT_H

typedef enum tw_weight_format {
  TW_MXFP4 = 0,     /* e2m1, times a power of two for each 32 of k */
  TW_NVFP4 = 1,     /* e2m1, times an e4m3 for each 16 of k */
  TW_INT4 = 2,      /* (a code - 8) times a scale */
  TW_INT4_ZEROS = 3 /* (a code - a zero point) times a scale */
} tw_weight_format;

#endif /* TILEWRIGHT_WEIGHT_FORMAT_H */
