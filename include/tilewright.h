/* Tilewright: matrix products and convolutions on NVIDIA GPUs, and on a virtual one.
 *
 * Every call takes the memory and the stream of its caller: nothing is allocated on the device,
 * nothing is waited for, nothing is compiled. Calls may come from any thread, for the current CUDA
 * device, and may be captured into CUDA graphs. */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

/* family grouped: begin */
#include "tilewright/family/grouped/problem.h"
/* family grouped: end */
#include "tilewright/family/matmul/problem.h"
#include "tilewright/family/quantise/problem.h"
#include "tilewright/types.h"

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 5
#define TW_VERSION_PATCH 0

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_status {
  TW_OK = 0,
  TW_INVALID = 1,     /* the problem contradicts itself, or names what is not there */
  TW_UNSUPPORTED = 2, /* the problem is sound, but no compiled kernel computes it here */
  TW_WORKSPACE = 3,   /* the workspace is too small, or not aligned to 256 bytes */
  TW_CUDA = 4,        /* CUDA reported an error, or there is no GPU */
  TW_FOUND = 5        /* the virtual GPU reports a fault of the kernel */
} tw_status;

/* Why this thread's last call did not return TW_OK: a sentence that names the value and the rule.
 * Valid until the thread's next call; empty after a call that did. */
TW_API const char* tw_message(void);

TW_API const char* tw_version(void); /* "0.5.0" */

typedef struct tw_matmul_options {
  size_t size;
  /* The sum of an element is made in the same order whatever m is. */
  int batch_invariant;
  /* fp8: the tensor core adds up all of k with 13 fractional bits; 0: partial sums in float32. */
  int fast_accumulation;
  /* The workspace was zeroed once by the caller and has since been used by these functions alone,
   * one stream at a time. 0: it may hold anything, and is cleared where that matters. */
  int workspace_is_ready;
  size_t workspace_limit; /* kernels that need more are not chosen */
  const char* instance;   /* null: the library chooses; otherwise a name of `./tw list` */
  const char* target;     /* of tw_matmul_simulate: "sm80", "sm90a" (null) or "sm100a" */
} tw_matmul_options;

/* Zeroes both and sets what is not zero: sizes, batch 1, alpha 1, output_scale 1,
 * fast_accumulation 1, workspace_limit 64 MiB. Either may be null. */
TW_API void tw_matmul_init(tw_matmul_problem* problem, tw_matmul_options* options);

/* Whether the library computes the problem on the current device. `options` may be null here and
 * below. */
TW_API tw_status tw_matmul_supported(const tw_matmul_problem* problem,
                                     const tw_matmul_options* options);

TW_API tw_status tw_matmul_workspace_size(size_t* bytes, const tw_matmul_problem* problem,
                                          const tw_matmul_options* options);

/* Enqueues the product on `stream` (a cudaStream_t). */
TW_API tw_status tw_matmul(const tw_matmul_problem* problem, const tw_matmul_options* options,
                           void* workspace, size_t workspace_bytes, void* stream);

/* What is decided from the shape, decided once. A plan belongs to the device it was made for and is
 * used from many threads at once. */
typedef struct tw_matmul_plan tw_matmul_plan;
TW_API tw_status tw_matmul_plan_create(tw_matmul_plan** plan, const tw_matmul_problem* problem,
                                       const tw_matmul_options* options);
TW_API void tw_matmul_plan_destroy(tw_matmul_plan* plan);
TW_API size_t tw_matmul_plan_workspace_size(const tw_matmul_plan* plan);
/* A line of `./tw run` that repeats the plan's launch. */
TW_API const char* tw_matmul_plan_command(const tw_matmul_plan* plan);
/* `problem` may have other addresses than the plan's, aligned alike, and is otherwise the same. */
TW_API tw_status tw_matmul_plan_run(const tw_matmul_plan* plan, const tw_matmul_problem* problem,
                                    void* workspace, size_t workspace_bytes, void* stream);

/* The same kernels on the virtual GPU, with host memory: returns when the result is there. */
TW_API tw_status tw_matmul_simulate(const tw_matmul_problem* problem,
                                    const tw_matmul_options* options);

/* family conv2d: begin */
/* Along one side of the image. */
typedef struct tw_conv2d_axis {
  int64_t extent; /* of the image */
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
  size_t size; /* of this struct: what tw_conv2d_init wrote */
  tw_direction direction;
  int64_t n, c, k, groups;
  tw_conv2d_axis h, w, depth;
  const void* image;
  const void* filter;
  void* d;
  tw_type type; /* of image and filter */
  tw_type d_type;
  tw_epilogue epilogue;
} tw_conv2d_problem;

/* As those of matmul; batch_invariant: whatever n is. */
typedef tw_matmul_options tw_conv2d_options;

/* As tw_matmul_init; forward, extents, filters, strides, dilations, n and groups 1, no padding. */
TW_API void tw_conv2d_init(tw_conv2d_problem* problem, tw_conv2d_options* options);

/* As the functions of matmul above. */
TW_API tw_status tw_conv2d_supported(const tw_conv2d_problem* problem,
                                     const tw_conv2d_options* options);
TW_API tw_status tw_conv2d_workspace_size(size_t* bytes, const tw_conv2d_problem* problem,
                                          const tw_conv2d_options* options);
TW_API tw_status tw_conv2d(const tw_conv2d_problem* problem, const tw_conv2d_options* options,
                           void* workspace, size_t workspace_bytes, void* stream);
typedef struct tw_conv2d_plan tw_conv2d_plan;
TW_API tw_status tw_conv2d_plan_create(tw_conv2d_plan** plan, const tw_conv2d_problem* problem,
                                       const tw_conv2d_options* options);
TW_API void tw_conv2d_plan_destroy(tw_conv2d_plan* plan);
TW_API size_t tw_conv2d_plan_workspace_size(const tw_conv2d_plan* plan);
/* A line of `./tw run` that repeats the plan's launch on the virtual GPU. */
TW_API const char* tw_conv2d_plan_command(const tw_conv2d_plan* plan);
TW_API tw_status tw_conv2d_plan_run(const tw_conv2d_plan* plan, const tw_conv2d_problem* problem,
                                    void* workspace, size_t workspace_bytes, void* stream);
TW_API tw_status tw_conv2d_simulate(const tw_conv2d_problem* problem,
                                    const tw_conv2d_options* options);
/* family conv2d: end */

/* family blockwise: begin */
/* D = epilogue(sum over blocks of 128 of k of a_scale * b_scale * (A B over that block)), with A
 * and B in e4m3 or e5m2. docs/scales.md draws which scale belongs where. */
typedef struct tw_blockwise_problem {
  size_t size; /* of this struct: what tw_blockwise_init wrote */
  tw_matmul_problem matmul;
  tw_scales a_scales;
  tw_scales b_scales;
} tw_blockwise_problem;

/* As those of matmul; sums are float32 beyond 128 of k, whatever fast_accumulation says. */
typedef tw_matmul_options tw_blockwise_options;

/* As tw_matmul_init; scales have type TW_FP32. */
TW_API void tw_blockwise_init(tw_blockwise_problem* problem, tw_blockwise_options* options);

/* As the functions of matmul above. */
TW_API tw_status tw_blockwise_supported(const tw_blockwise_problem* problem,
                                        const tw_blockwise_options* options);
TW_API tw_status tw_blockwise_workspace_size(size_t* bytes, const tw_blockwise_problem* problem,
                                             const tw_blockwise_options* options);
TW_API tw_status tw_blockwise(const tw_blockwise_problem* problem,
                              const tw_blockwise_options* options, void* workspace,
                              size_t workspace_bytes, void* stream);
typedef struct tw_blockwise_plan tw_blockwise_plan;
TW_API tw_status tw_blockwise_plan_create(tw_blockwise_plan** plan,
                                          const tw_blockwise_problem* problem,
                                          const tw_blockwise_options* options);
TW_API void tw_blockwise_plan_destroy(tw_blockwise_plan* plan);
TW_API size_t tw_blockwise_plan_workspace_size(const tw_blockwise_plan* plan);
TW_API const char* tw_blockwise_plan_command(const tw_blockwise_plan* plan);
TW_API tw_status tw_blockwise_plan_run(const tw_blockwise_plan* plan,
                                       const tw_blockwise_problem* problem, void* workspace,
                                       size_t workspace_bytes, void* stream);
TW_API tw_status tw_blockwise_simulate(const tw_blockwise_problem* problem,
                                       const tw_blockwise_options* options);
/* family blockwise: end */

/* family grouped: begin */
/* As those of matmul. */
typedef tw_matmul_options tw_grouped_options;

/* As tw_matmul_init. */
TW_API void tw_grouped_init(tw_grouped_problem* problem, tw_grouped_options* options);

/* As the functions of matmul above; no kernel needs a workspace. */
TW_API tw_status tw_grouped_supported(const tw_grouped_problem* problem,
                                      const tw_grouped_options* options);
TW_API tw_status tw_grouped_workspace_size(size_t* bytes, const tw_grouped_problem* problem,
                                           const tw_grouped_options* options);
TW_API tw_status tw_grouped(const tw_grouped_problem* problem, const tw_grouped_options* options,
                            void* workspace, size_t workspace_bytes, void* stream);
typedef struct tw_grouped_plan tw_grouped_plan;
TW_API tw_status tw_grouped_plan_create(tw_grouped_plan** plan, const tw_grouped_problem* problem,
                                        const tw_grouped_options* options);
TW_API void tw_grouped_plan_destroy(tw_grouped_plan* plan);
TW_API size_t tw_grouped_plan_workspace_size(const tw_grouped_plan* plan);
/* With groups of equal sizes: the host does not know those on the device. */
TW_API const char* tw_grouped_plan_command(const tw_grouped_plan* plan);
TW_API tw_status tw_grouped_plan_run(const tw_grouped_plan* plan, const tw_grouped_problem* problem,
                                     void* workspace, size_t workspace_bytes, void* stream);
TW_API tw_status tw_grouped_simulate(const tw_grouped_problem* problem,
                                     const tw_grouped_options* options);
/* family grouped: end */

/* family quantise: begin */
/* As those of matmul, of which only instance and target matter. */
typedef tw_matmul_options tw_quantise_options;

/* As tw_matmul_init; batch and scale_rows 1, elements TW_E4M3, scales TW_FP32. */
TW_API void tw_quantise_init(tw_quantise_problem* problem, tw_quantise_options* options);

/* As the functions of matmul above; no kernel needs a workspace. */
TW_API tw_status tw_quantise_supported(const tw_quantise_problem* problem,
                                       const tw_quantise_options* options);
TW_API tw_status tw_quantise_workspace_size(size_t* bytes, const tw_quantise_problem* problem,
                                            const tw_quantise_options* options);
TW_API tw_status tw_quantise(const tw_quantise_problem* problem, const tw_quantise_options* options,
                             void* workspace, size_t workspace_bytes, void* stream);
typedef struct tw_quantise_plan tw_quantise_plan;
TW_API tw_status tw_quantise_plan_create(tw_quantise_plan** plan,
                                         const tw_quantise_problem* problem,
                                         const tw_quantise_options* options);
TW_API void tw_quantise_plan_destroy(tw_quantise_plan* plan);
TW_API size_t tw_quantise_plan_workspace_size(const tw_quantise_plan* plan);
TW_API const char* tw_quantise_plan_command(const tw_quantise_plan* plan);
TW_API tw_status tw_quantise_plan_run(const tw_quantise_plan* plan,
                                      const tw_quantise_problem* problem, void* workspace,
                                      size_t workspace_bytes, void* stream);
TW_API tw_status tw_quantise_simulate(const tw_quantise_problem* problem,
                                      const tw_quantise_options* options);
/* family quantise: end */

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_H */
