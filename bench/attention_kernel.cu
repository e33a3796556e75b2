// One attention kernel as a shared library with a C function: bench/attention_torch.py compiles it
// with ROWS, KEYS, COLUMNS, STAGED, CLUSTER and DYNAMIC, and calls it beside torch.
#include <cstdio>

#include "tilewright/arch/sm90_attention.h"
#include "tilewright/host/attention.h"
#include "tilewright/host/cuda.h"
#include "tilewright/kernel/entry.h"

struct Named {
  static constexpr tw::AttentionConfig config = {
      .tiling = {.m = ROWS, .n = COLUMNS, .cluster = {CLUSTER, 1}},
      .keys = KEYS,
      .scheduling = DYNAMIC ? tw::Scheduling::Dynamic : tw::Scheduling::Static,
      .staged_bytes = STAGED};
};
using Parts = tw::AttentionParts<tw::Sm90Attention, Named>;
using Kernel = tw::kernel::WarpSpecialized<Parts>;

// Tensors are (batch,token,head,column) if tokens_first, else (batch,head,token,column). 0 if the
// kernel was launched.
extern "C" int attention(void* q, void* k, void* v, void* output, float* log_sums,
                         std::uint32_t* counter, int batch, int heads, int key_heads, int queries,
                         int keys, int tokens_first, int causal, float scale, void* stream) {
  static tw::CudaKernel entry(reinterpret_cast<const void*>(&tw::kernel::entry<Kernel>),
                              {CLUSTER, Parts::in_clusters, Parts::Target::target.capability_begin,
                               Parts::Target::target.capability_end, Kernel::threads,
                               sizeof(typename Kernel::Storage), Parts::dependent_launch});
  // (batch,head) of the second order counts as heads of one sequence.
  const int in_batch = tokens_first ? 1 : batch;
  const auto tensor = [&](void* data, std::int64_t head_count, std::int64_t rows) {
    return tokens_first ? tw::HeadTensor{data, head_count * COLUMNS, COLUMNS}
                        : tw::HeadTensor{data, COLUMNS, rows * COLUMNS};
  };
  tw::AttentionProblem problem;
  problem.columns = COLUMNS;
  problem.sequences = tokens_first ? batch : 1;
  problem.heads = heads * in_batch;
  problem.key_heads = key_heads * in_batch;
  problem.queries = queries;
  problem.keys = keys;
  problem.causal = causal != 0;
  problem.scale = scale;
  problem.q = tensor(q, heads, queries);
  problem.k = tensor(k, key_heads, keys);
  problem.v = tensor(v, key_heads, keys);
  problem.output = tensor(output, heads, queries);
  problem.log_sums = log_sums;
  problem.log_sums_pitch = problem.query_rows();

  const auto launch = [&]() -> tw::Status {
    unsigned clusters = 0;
    const tw::Status asked = entry.max_active_clusters(clusters);
    if (!asked.is_good()) return asked;
    typename Kernel::Params params;
    tw::MatmulGrid grid = {};
    const tw::Status planned =
        tw::plan_attention<Parts>(params, grid, problem, clusters, counter, tw::encode_for_cuda);
    if (!planned.is_good() || grid.ctas == 0) return planned;
    return entry.launch(params, grid.ctas, static_cast<cudaStream_t>(stream));
  };
  const tw::Status status = launch();
  if (status.is_good()) return 0;
  std::fprintf(stderr, "%s\n", status.sentence().c_str());
  return 1;
}
