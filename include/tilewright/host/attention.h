// Attention on the host: what a problem is, which ones a kernel takes, and the plan of its launch.
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "tilewright/base/status.h"
#include "tilewright/family/attention.h"
#include "tilewright/host/matmul_order.h"
#include "tilewright/host/tensor_map.h"

namespace tw {

// bf16, (token,head,column), contiguous along the columns. Pitches count elements.
struct HeadTensor {
  void* data = nullptr;
  std::int64_t token_pitch = 0;
  std::int64_t head_pitch = 0;
};

// output = softmax(scale queries keys^T) values, for each sequence and head. Tokens of all
// sequences lie behind each other. (Where they lie in batches of heads instead, every head of every
// sequence counts as a head of one sequence.)
struct AttentionProblem {
  int heads = 1;      // of queries
  int key_heads = 1;  // of keys and values: each serves heads / key_heads heads of queries
  int columns = 128;  // of a head
  int sequences = 1;
  // Tokens of every sequence; where ends are given, of all together.
  int queries = 0;
  int keys = 0;
  // On the device, for each sequence: the row behind its last.
  const std::int32_t* query_ends = nullptr;
  const std::int32_t* key_ends = nullptr;
  bool causal = false;
  float scale = 1;
  HeadTensor q, k, v, output;
  float* log_sums = nullptr;  // (head,token), or null
  std::int64_t log_sums_pitch = 0;

  bool is_ragged() const { return query_ends != nullptr; }
  std::int64_t query_rows() const { return std::int64_t{queries} * (is_ragged() ? 1 : sequences); }
  std::int64_t key_rows() const { return std::int64_t{keys} * (is_ragged() ? 1 : sequences); }
};

namespace detail {

inline Status check_tensor(const HeadTensor& tensor, const char* name, std::int64_t rows) {
  if (rows == 0) return Status::good();
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (address == 0) return Status::refused(std::string(name) + " has no address.");
  if (address % 16 != 0 || tensor.token_pitch % 8 != 0 || tensor.head_pitch % 8 != 0 ||
      tensor.token_pitch <= 0 || tensor.head_pitch <= 0) {
    return Status::refused(std::string(name) + " must begin at a multiple of 16 bytes and have " +
                           "positive pitches that are multiples of 8 elements; they are " +
                           std::to_string(tensor.token_pitch) + " from token to token and " +
                           std::to_string(tensor.head_pitch) + " from head to head.");
  }
  return Status::good();
}

inline MatrixBox head_box(const HeadTensor& tensor, int columns, std::int64_t rows, int heads,
                          unsigned box_columns, unsigned box_rows) {
  return {.base = tensor.data,
          .inner = columns,
          .outer = rows,
          .batch = heads,
          .pitch_bytes = tensor.token_pitch * 2,
          .batch_pitch_bytes = tensor.head_pitch * 2,
          .box_inner = box_columns,
          .box_outer = box_rows,
          .swizzle = swizzle_of_rows(box_columns * 2)};
}

template <class Parts, class Encode>
Status fill_heads(typename Parts::Loader::Params& loader, const AttentionProblem& problem,
                  const Encode& encode) {
  if constexpr (requires { loader.queries.token_stride; }) {
    const auto view = [](const HeadTensor& tensor) {
      return typename Parts::Loader::Heads{static_cast<const std::uint16_t*>(tensor.data),
                                           tensor.token_pitch, tensor.head_pitch};
    };
    loader.queries = view(problem.q);
    loader.keys = view(problem.k);
    loader.values = view(problem.v);
    return Status::good();
  } else {
    const auto box = [&](const HeadTensor& tensor, std::int64_t rows, int heads, unsigned of_box) {
      return head_box(tensor, problem.columns, rows, heads, HeadTile::span_columns, of_box);
    };
    const std::int64_t key_rows = problem.key_rows();
    const Status status = encode(loader.queries, box(problem.q, problem.query_rows(), problem.heads,
                                                     Parts::query_tile.rows));
    // Without keys no tile reads them, but the maps must be some.
    loader.keys = loader.values = loader.queries;
    if (!status.is_good() || key_rows == 0) return status;
    const Status keys = encode(
        loader.keys, box(problem.k, key_rows, problem.key_heads, Parts::Loader::key_box_rows));
    if (!keys.is_good()) return keys;
    return encode(loader.values,
                  box(problem.v, key_rows, problem.key_heads, Parts::Loader::key_box_rows));
  }
}

}  // namespace detail

inline Status check(const AttentionProblem& problem) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (problem.heads < 1 || problem.key_heads < 1 || problem.heads % problem.key_heads != 0) {
    return Status::refused("heads = " + text(problem.heads) +
                           " must be a multiple of key_heads = " + text(problem.key_heads) +
                           ", both at least 1.");
  }
  if (problem.sequences < 0 || problem.queries < 0 || problem.keys < 0) {
    return Status::refused("sequences = " + text(problem.sequences) +
                           ", queries = " + text(problem.queries) +
                           " and keys = " + text(problem.keys) + " must not be negative.");
  }
  constexpr std::int64_t most = std::numeric_limits<int>::max() - (1 << 16);
  if (problem.query_rows() > most || problem.key_rows() > most ||
      std::int64_t{problem.sequences} * problem.heads > most) {
    return Status::refused("Tokens and heads of all sequences are counted with 31 bits.");
  }
  if ((problem.query_ends == nullptr) != (problem.key_ends == nullptr)) {
    return Status::refused("Ends are given of queries and of keys, or of neither.");
  }
  if (!(problem.scale > 0) || problem.scale > std::numeric_limits<float>::max()) {
    return Status::refused("scale = " + std::to_string(problem.scale) +
                           " must be a positive number.");
  }
  const std::int64_t query_rows = problem.query_rows(), key_rows = problem.key_rows();
  for (const Status& status : {detail::check_tensor(problem.q, "q", query_rows),
                               detail::check_tensor(problem.output, "output", query_rows),
                               detail::check_tensor(problem.k, "k", key_rows),
                               detail::check_tensor(problem.v, "v", key_rows)}) {
    if (!status.is_good()) return status;
  }
  return Status::good();
}

// Work that the clusters of a grid share; where lengths stand on the device, the most that it can
// be.
template <class Parts>
std::int64_t attention_work(const AttentionProblem& problem) {
  const std::int64_t rows = Parts::tiling.m;
  const std::int64_t tiles = problem.is_ragged()
                                 ? problem.queries / rows + problem.sequences
                                 : problem.sequences * ((problem.queries + rows - 1) / rows);
  constexpr ClusterShape cluster = Parts::tiling.cluster;
  return tiles * problem.heads / cluster.size();
}

// Heads whose tiles are taken together: their keys and values shall stay in the L2.
inline int attention_section(const AttentionProblem& problem) {
  if (problem.is_ragged()) return problem.heads;
  constexpr std::int64_t bytes_kept = 32 << 20;
  const std::int64_t bytes_of_head = std::max<std::int64_t>(problem.keys, 1) * problem.columns * 4;
  const std::int64_t key_heads = std::max<std::int64_t>(bytes_kept / bytes_of_head, 1);
  const std::int64_t all = std::int64_t{problem.heads} * problem.sequences;
  return static_cast<int>(std::min(key_heads * (problem.heads / problem.key_heads), all));
}

// A grid of no CTAs is not launched. `counter` is for schedules that ask: zero before the launch,
// and again after it.
template <class Parts, class Encode>
Status plan_attention(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
                      const AttentionProblem& problem, unsigned max_clusters,
                      std::uint32_t* counter, const Encode& encode) {
  using Kernel = kernel::WarpSpecialized<Parts>;
  constexpr bool asks = Parts::config.scheduling == Scheduling::Dynamic;
  if (Status status = check(problem); !status.is_good()) return status;
  if (problem.columns != static_cast<int>(Parts::tiling.n)) {
    return Status::refused("columns = " + std::to_string(problem.columns) +
                           "; this kernel is for heads of " + std::to_string(Parts::tiling.n) +
                           ".");
  }
  if (asks && problem.is_ragged()) {
    return Status::refused("Lengths on the device need a kernel with a static schedule.");
  }
  constexpr ClusterShape cluster = Parts::tiling.cluster;
  if (problem.heads / problem.key_heads % static_cast<int>(cluster.size()) != 0) {
    return Status::refused("heads = " + std::to_string(problem.heads) + " and key_heads = " +
                           std::to_string(problem.key_heads) + "; this kernel takes " +
                           std::to_string(cluster.size()) + " heads at a time that share keys.");
  }
  if (cluster.size() > 1 &&
      (problem.is_ragged() || (problem.sequences > 1 && problem.keys % Parts::config.keys != 0))) {
    return Status::refused(
        "keys = " + std::to_string(problem.keys) + " of " + std::to_string(problem.sequences) +
        " sequences; in clusters a kernel takes one sequence, or such whose " +
        "lengths are known and multiples of " + std::to_string(Parts::config.keys) + ".");
  }
  const std::int64_t work = attention_work<Parts>(problem);
  if (work > std::numeric_limits<int>::max() - 65536) {
    return Status::refused("There are " + std::to_string(work) + " tiles; 31 bits count them.");
  }

  const Sequences sequences = {problem.sequences,  problem.queries,  problem.keys,
                               problem.query_ends, problem.key_ends, problem.causal ? 1 : 0};
  params = {};
  params.loader.sequences = sequences;
  params.loader.query_heads_per_key_head = problem.heads / problem.key_heads;
  params.own.sequences = sequences;
  params.own.scale = problem.scale;
  params.own.log_sums = problem.log_sums;
  params.own.log_sums_pitch = problem.log_sums_pitch;
  const typename Parts::Map::Params map = {sequences, problem.heads, attention_section(problem)};
  if constexpr (asks) {
    params.schedule = {map, counter, static_cast<int>(work)};
  } else {
    (void)counter;
    params.schedule = map;
  }
  params.epilogue.m = static_cast<int>(problem.query_rows());
  params.epilogue.n = problem.columns;
  params.epilogue.output.d = problem.output.data;
  params.epilogue.output.pitch = problem.output.token_pitch;
  params.epilogue.output.batch_pitch = problem.output.head_pitch;
  grid = {static_cast<unsigned>(std::min<std::int64_t>(max_clusters, work)) * cluster.size(),
          cluster.size(), Kernel::threads, sizeof(typename Kernel::Storage)};
  if (work == 0 || problem.query_rows() == 0) return Status::good();
  if constexpr (requires { params.epilogue.output.by_tma; }) {
    params.epilogue.output.by_tma = 1;
    const Status status = encode(
        params.epilogue.output.map,
        detail::head_box(problem.output, problem.columns, problem.query_rows(), problem.heads,
                         Parts::Store::chunk_columns, Parts::Store::chunk_rows));
    if (!status.is_good()) return status;
  }
  return detail::fill_heads<Parts>(params.loader, problem, encode);
}

}  // namespace tw
