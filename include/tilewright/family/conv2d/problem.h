/* A convolution, as a caller states it. */
#ifndef TILEWRIGHT_FAMILY_CONV2D_PROBLEM_H
#define TILEWRIGHT_FAMILY_CONV2D_PROBLEM_H

#include "tilewright/types.h"

/* Along one side of the image. */
typedef struct tw_conv2d_axis {
  int64_t extent; /* the image's */
  int64_t filter;
  int64_t stride;
  int64_t dilation;
  int64_t pad_low;
  int64_t pad_high;
} tw_conv2d_axis;

/* Backward, D's gradient takes the place of the image (data) or of the filter, and the gradient of
 * that operand takes D's. */
typedef enum tw_direction {
  TW_FORWARD = 0,
  TW_BACKWARD_DATA = 1,
  TW_BACKWARD_FILTER = 2
} tw_direction;

/* D[n,p,q,k] = epilogue(sum over r,s,c of image[n,h,w,c] * filter[k,r,s,c]), channels innermost and
 * everything without gaps: NHWC and KRSC. One side is w; a third, the depth, lies outside of h. In
 * groups, the first k / groups outputs see the first c / groups channels, and so on; filters have
 * only these. The epilogue sees D as a matrix of n * p * q rows and k columns (data: n * h * w and
 * c; filter: k and r * s * c). */
typedef struct tw_conv2d_problem {
  size_t size;     /* this struct's: what tw_conv2d_init wrote */
  uint64_t family; /* likewise */
  tw_direction direction;
  int64_t n, c, k, groups;
  tw_conv2d_axis h, w, depth;
  const void* image;
  const void* filter;
  void* d;
  tw_type type; /* type of image and filter */
  tw_type d_type;
  tw_epilogue epilogue;
} tw_conv2d_problem;

#endif /* TILEWRIGHT_FAMILY_CONV2D_PROBLEM_H */
