/* Tilewright: matrix products and convolutions on GPUs of NVIDIA and AMD, and on a virtual one.
 *
 * Every call takes the memory and the stream of its caller: nothing is allocated on the device,
 * nothing is waited for, nothing is compiled. Calls may come from any thread, for the current
 * device of CUDA, or of HIP where CUDA has none, and may be captured into graphs.
 *
 * The functions below serve every family. A problem is a struct that begins with its size and its
 * family, which tw_init writes; a family is known by its name. TW_FAMILY declares typed names of
 * the same functions: tw_matmul_init, tw_matmul, tw_matmul_plan_create and so on. */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "tilewright/types.h"

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 6
#define TW_VERSION_PATCH 0

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif
#ifdef __cplusplus
#define TW_INLINE inline
#else
#define TW_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_status {
  TW_OK = 0,
  TW_INVALID = 1,     /* the problem contradicts itself, or names what is not there */
  TW_UNSUPPORTED = 2, /* the problem is sound, but no compiled kernel computes it here */
  TW_WORKSPACE = 3,   /* the workspace is too small, or not aligned to 256 bytes */
  TW_CUDA = 4,        /* CUDA or HIP reported an error, or there is no GPU */
  TW_FOUND = 5        /* the virtual GPU reports a fault of the kernel */
} tw_status;

/* Why this thread's last call did not return TW_OK: a sentence that names the value and the rule.
 * Valid until the thread's next call; empty after a call that did. */
TW_API const char* tw_message(void);

TW_API const char* tw_version(void); /* "0.6.0" */

typedef struct tw_options {
  size_t size; /* this struct's: what tw_init wrote */
  /* The sum of an element is made in the same order whatever m is (of a convolution: n; of
   * attention: whatever else is in the batch, up to 4095 tiles; docs/attention.md). */
  int batch_invariant;
  /* fp8: the tensor core adds up all of k with 13 fractional bits; 0: partial sums in float32. */
  int fast_accumulation;
  /* The workspace was zeroed once by the caller and has since been used by these functions alone,
   * one stream at a time. 0: it may hold anything, and is cleared where that matters. */
  int workspace_is_ready;
  size_t workspace_limit; /* kernels that need more are not chosen */
  const char* instance;   /* null: the library chooses; otherwise a name of `./tw list` */
  /* What tw_simulate runs, and tw_supported answers for where there is no GPU: "sm80", "sm90a"
   * (null), "sm100a", "gfx942" or "gfx950". Where CUDA and HIP have devices, one of AMD's takes
   * HIP's. */
  const char* target;
} tw_options;

/* Adds the families of a plug-in, a shared object with kernels of one's own (docs/own_kernel.md),
 * to those that the functions below serve; the one that the variable TW_PLUGIN names is added by
 * itself. It stays as long as the process. One of another version is refused. */
TW_API tw_status tw_load_plugin(const char* path);

/* What there is, as JSON. Of a family, by its name: the fields of its problem with their offsets,
 * types, ranges and first values, its tensors, its lists, its kernels (docs/library.md).
 * Null: the names of all families, the types, the options. Null is returned where there is no such
 * family. The text lives as long as the process. */
TW_API const char* tw_describe(const char* family);

/* Zeroes both and sets what is not zero: size and family, batch 1, alpha 1, output_scale 1 and what
 * else tw_describe calls initial; fast_accumulation 1, workspace_limit 256 MiB. `bytes` is the size
 * of the caller's struct. Either may be null. */
TW_API tw_status tw_init(const char* family, void* problem, size_t bytes, tw_options* options);

/* By the problem's numbers, batch, rows and columns of each tensor, in the order of tw_describe;
 * zeros where it has no such tensor. `count` is how many tensors there is room for: as many as
 * described. Only strides and addresses may be missing. */
TW_API tw_status tw_extents(int64_t* extents, size_t count, const void* problem);

/* Whether the library computes the problem on the current device; where there is none and
 * options->target is not null, on devices of that target. `options` may be null here and below. */
TW_API tw_status tw_supported(const void* problem, const tw_options* options);

TW_API tw_status tw_workspace_size(size_t* bytes, const void* problem, const tw_options* options);

/* Enqueues the problem on `stream` (a cudaStream_t, or a hipStream_t). */
TW_API tw_status tw_run(const void* problem, const tw_options* options, void* workspace,
                        size_t workspace_bytes, void* stream);

/* What is decided from the shape, decided once. A plan belongs to the device it was made for and is
 * used from many threads at once. */
typedef struct tw_plan tw_plan;
TW_API tw_status tw_plan_create(tw_plan** plan, const void* problem, const tw_options* options);
TW_API void tw_plan_destroy(tw_plan* plan);
TW_API size_t tw_plan_workspace_size(const tw_plan* plan);
/* A line of `./tw run` that repeats the plan's launch; of groups with equal sizes, since the host
 * does not know those on the device. */
TW_API const char* tw_plan_command(const tw_plan* plan);
/* `problem` may have other addresses than the plan's, aligned alike, and is otherwise the same. */
TW_API tw_status tw_plan_run(const tw_plan* plan, const void* problem, void* workspace,
                             size_t workspace_bytes, void* stream);

/* The same kernels on the virtual GPU, with host memory: returns when the result is there. */
TW_API tw_status tw_simulate(const void* problem, const tw_options* options);

/* Plans of problems of any families, each behind the one before on one stream, which one call
 * enqueues: a layer of experts, for example (docs/groups.md). What one problem writes, those behind
 * it may read. It belongs to the device it was made for and is used from many threads at once. */
typedef struct tw_sequence tw_sequence;
TW_API tw_status tw_sequence_create(tw_sequence** sequence, const void* const* problems,
                                    size_t count, const tw_options* options);
TW_API void tw_sequence_destroy(tw_sequence* sequence);
/* The largest that one of them needs: they use it by turns. */
TW_API size_t tw_sequence_workspace_size(const tw_sequence* sequence);
/* Problems are as many as the sequence was made of, each as for tw_plan_run. Where one is refused
 * nothing is enqueued, and the sentence begins with its place. */
TW_API tw_status tw_sequence_run(const tw_sequence* sequence, const void* const* problems,
                                 size_t count, void* workspace, size_t workspace_bytes,
                                 void* stream);
TW_API tw_status tw_sequence_simulate(const void* const* problems, size_t count,
                                      const tw_options* options);

/* In C++ the type of a problem tells its family: tilewright.hpp asks this. */
#ifdef __cplusplus
#define TW_FAMILY_OF(NAME) \
  extern "C++" inline const char* tw_family_of(const tw_##NAME##_problem*) { return #NAME; }
#else
#define TW_FAMILY_OF(NAME)
#endif

/* The functions above for problems of one family: tw_NAME_problem is its struct. */
#define TW_FAMILY(NAME)                                                                           \
  TW_FAMILY_OF(NAME)                                                                              \
  typedef tw_options tw_##NAME##_options;                                                         \
  typedef tw_plan tw_##NAME##_plan;                                                               \
  TW_INLINE void tw_##NAME##_init(tw_##NAME##_problem* problem, tw_options* options) {            \
    (void)tw_init(#NAME, problem, sizeof *problem, options);                                      \
  }                                                                                               \
  TW_INLINE tw_status tw_##NAME##_supported(const tw_##NAME##_problem* problem,                   \
                                            const tw_options* options) {                          \
    return tw_supported(problem, options);                                                        \
  }                                                                                               \
  TW_INLINE tw_status tw_##NAME##_workspace_size(                                                 \
      size_t* bytes, const tw_##NAME##_problem* problem, const tw_options* options) {             \
    return tw_workspace_size(bytes, problem, options);                                            \
  }                                                                                               \
  TW_INLINE tw_status tw_##NAME(const tw_##NAME##_problem* problem, const tw_options* options,    \
                                void* workspace, size_t workspace_bytes, void* stream) {          \
    return tw_run(problem, options, workspace, workspace_bytes, stream);                          \
  }                                                                                               \
  TW_INLINE tw_status tw_##NAME##_plan_create(tw_plan** plan, const tw_##NAME##_problem* problem, \
                                              const tw_options* options) {                        \
    return tw_plan_create(plan, problem, options);                                                \
  }                                                                                               \
  TW_INLINE void tw_##NAME##_plan_destroy(tw_plan* plan) { tw_plan_destroy(plan); }               \
  TW_INLINE size_t tw_##NAME##_plan_workspace_size(const tw_plan* plan) {                         \
    return tw_plan_workspace_size(plan);                                                          \
  }                                                                                               \
  TW_INLINE const char* tw_##NAME##_plan_command(const tw_plan* plan) {                           \
    return tw_plan_command(plan);                                                                 \
  }                                                                                               \
  TW_INLINE tw_status tw_##NAME##_plan_run(const tw_plan* plan,                                   \
                                           const tw_##NAME##_problem* problem, void* workspace,   \
                                           size_t workspace_bytes, void* stream) {                \
    return tw_plan_run(plan, problem, workspace, workspace_bytes, stream);                        \
  }                                                                                               \
  TW_INLINE tw_status tw_##NAME##_simulate(const tw_##NAME##_problem* problem,                    \
                                           const tw_options* options) {                           \
    return tw_simulate(problem, options);                                                         \
  }

#ifdef __cplusplus
}
#endif

/* The build makes it: the problem of each family, and its TW_FAMILY. */
#include "tilewright/families.h"

#endif /* TILEWRIGHT_H */
