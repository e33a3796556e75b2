// Attention on the host: which problems a kernel takes, and the plan of its launch.
#pragma once

#include <algorithm>
#include <limits>

#include "tilewright/family/attention/family.h"
#include "tilewright/family/attention/kernel.h"
#include "tilewright/host/checked.h"
#include "tilewright/host/matmul_order.h"
#include "tilewright/host/tensor_map.h"

namespace tw {

// Work that the clusters of a grid share, by tiles of so many rows; where lengths stand on the
// device, the most that it can be.
inline std::int64_t attention_work(const tw_attention_problem& problem,
                                   const AttentionConfig& config) {
  const std::int64_t rows = config.tiling.m;
  const std::int64_t tiles = AttentionFamily::is_ragged(problem)
                                 ? problem.queries / rows + problem.sequences
                                 : problem.sequences * ((problem.queries + rows - 1) / rows);
  return tiles * problem.heads / config.tiling.cluster.size();
}

// Heads whose tiles are taken together: their keys and values shall stay in the L2.
inline int attention_section(const tw_attention_problem& problem) {
  if (AttentionFamily::is_ragged(problem)) return static_cast<int>(problem.heads);
  constexpr std::int64_t bytes_kept = 32 << 20;
  const std::int64_t bytes_of_head = std::max<std::int64_t>(problem.keys, 1) *
                                     (problem.head_size + AttentionFamily::value_size(problem)) * 2;
  const std::int64_t key_heads = std::max<std::int64_t>(bytes_kept / bytes_of_head, 1);
  const std::int64_t all = problem.heads * problem.sequences;
  return static_cast<int>(std::min(key_heads * (problem.heads / problem.key_heads), all));
}

struct AttentionLaunch {
  using Family = AttentionFamily;
  using Problem = Family::Problem;

  template <class Parts>
  static constexpr AttentionConfig facts = Parts::config;

  // A grid of no CTAs is not launched. Schedules that ask have a counter in the workspace.
  template <class Parts, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
                     const Checked& checked, const MatmulOrder&, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    using Kernel = kernel::WarpSpecialized<Parts>;
    const Problem& problem = checked.as<Problem>();
    if (Status status = takes<Parts>(checked); !status.is_good()) return status;
    constexpr ClusterShape cluster = Parts::tiling.cluster;
    const std::int64_t work = attention_work(problem, Parts::config);
    if (work > std::numeric_limits<int>::max() - 65536) {
      return Status::refused(sentence("There are {} tiles; 31 bits count them.", work));
    }
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    const Sequences sequences = {number(problem.sequences),
                                 number(problem.queries),
                                 number(problem.keys),
                                 problem.query_ends,
                                 problem.key_ends,
                                 problem.causal != 0 ? 1 : 0,
                                 problem.window != 0 ? number(problem.window) : every_key};
    params = {};
    params.loader.sequences = sequences;
    params.loader.query_heads_per_key_head = number(problem.heads / problem.key_heads);
    params.own.sequences = sequences;
    params.own.scale = Family::scale(problem);
    params.own.softcap = problem.softcap;
    params.own.sinks = problem.sinks;
    const TensorLines& log_sums = checked.tensor(Family::log_sums);
    params.own.log_sums = static_cast<float*>(log_sums.data);
    params.own.log_sums_pitch = log_sums.pitch;
    const typename Parts::Map::Params map = {sequences, number(problem.heads),
                                             attention_section(problem)};
    if constexpr (Parts::config.scheduling == Scheduling::Dynamic) {
      params.schedule = {map, static_cast<std::uint32_t*>(workspace.data), number(work)};
    } else {
      params.schedule = map;
    }
    const TensorLines& output = checked.tensor(Family::output);
    params.epilogue.m = number(Family::query_rows(problem));
    params.epilogue.n = number(Family::value_size(problem));
    params.epilogue.output.d = output.data;
    params.epilogue.output.pitch = output.pitch;
    params.epilogue.output.batch_pitch = output.batch_pitch;
    grid = {static_cast<unsigned>(std::min<std::int64_t>(max_clusters, work)) * cluster.size(),
            cluster.size(), Kernel::threads, sizeof(typename Kernel::Storage)};
    if constexpr (requires { params.epilogue.output.by_tma; }) {
      params.epilogue.output.by_tma = 1;
      const Status status =
          encode(params.epilogue.output.map,
                 box_of(output, Parts::Store::chunk_columns, Parts::Store::chunk_rows));
      if (!status.is_good()) return status;
    }
    return fill_loader<Parts>(params.loader, checked, encode);
  }

 private:
  static constexpr int every_key = 1 << 30;  // a window that leaves out none; sums of two fit int

  template <class Parts>
  static Status takes(const Checked& checked) {
    const Problem& problem = checked.as<Problem>();
    constexpr unsigned columns = Parts::config.head_columns(), values = Parts::tiling.n;
    const std::int64_t value_size = Family::value_size(problem);
    if (problem.head_size > columns || problem.head_size % 8 != 0 || value_size > values ||
        value_size % 8 != 0) {
      return Status::refused(
          sentence("head_size = {} and {} columns of values; this kernel is for up to {} and {}, "
                   "multiples of 8.",
                   problem.head_size, value_size, columns, values));
    }
    const ElementType type = checked.tensor(Family::q).type;
    if (type != Parts::config.d_type) {
      return Status::refused(sentence("The elements are {}; this kernel is for {}.", name_of(type),
                                      name_of(Parts::config.d_type)));
    }
    constexpr unsigned sharers = Parts::tiling.cluster.size();
    const bool asks = Parts::config.scheduling == Scheduling::Dynamic;
    if (asks && Family::is_ragged(problem)) {
      return Status::refused("Lengths on the device need a kernel with a static schedule.");
    }
    if (problem.heads / problem.key_heads % sharers != 0) {
      return Status::refused(
          sentence("heads = {} and key_heads = {}; this kernel takes {} heads at a time that share "
                   "keys.",
                   problem.heads, problem.key_heads, sharers));
    }
    constexpr unsigned keys = Parts::config.keys;
    if (sharers > 1 &&
        (Family::is_ragged(problem) || (problem.sequences > 1 && problem.keys % keys != 0))) {
      return Status::refused(
          sentence("keys = {} of {} sequences; in clusters a kernel takes one sequence, or such "
                   "whose lengths are known and multiples of {}.",
                   problem.keys, problem.sequences, keys));
    }
    for (const unsigned tensor : {Family::q, Family::k, Family::v, Family::output}) {
      const TensorLines& lines = checked.tensor(tensor);
      const bool is_aligned = reinterpret_cast<std::uintptr_t>(lines.data) % 16 == 0 &&
                              lines.pitch % 8 == 0 && lines.batch_pitch % 8 == 0;
      if (is_aligned) continue;
      return Status::refused(sentence(
          "This kernel copies {} by 16 bytes, which begin at multiples of 16 bytes; from token to "
          "token they lie {} elements apart, from head to head {}.",
          checked.description().tensors[tensor].title, lines.pitch, lines.batch_pitch));
    }
    return Status::good();
  }

  static MatrixBox box_of(const TensorLines& heads, unsigned box_columns, unsigned box_rows) {
    return {.base = heads.data,
            .type = heads.type,
            .inner = heads.length,
            .outer = heads.lines,
            .batch = heads.batch,
            .pitch_bytes = heads.pitch * 2,
            .batch_pitch_bytes = heads.batch_pitch * 2,
            .box_inner = box_columns,
            .box_outer = box_rows,
            .swizzle = swizzle_of_rows(box_columns * 2)};
  }

  template <class Parts, class Encode>
  static Status fill_loader(typename Parts::Loader::Params& loader, const Checked& checked,
                            const Encode& encode) {
    const TensorLines &q = checked.tensor(Family::q), &k = checked.tensor(Family::k),
                      &v = checked.tensor(Family::v);
    if constexpr (requires { loader.queries.token_stride; }) {
      const auto view = [](const TensorLines& heads) {
        return typename Parts::Loader::Heads{static_cast<const std::uint16_t*>(heads.data),
                                             heads.pitch, heads.batch_pitch,
                                             static_cast<int>(heads.length)};
      };
      loader.queries = view(q);
      loader.keys = view(k);
      loader.values = view(v);
      return Status::good();
    } else {
      constexpr unsigned span = HeadTile::span_columns, rows = Parts::Loader::key_box_rows;
      const Status status = encode(loader.queries, box_of(q, span, Parts::query_tile.rows));
      // Without keys no tile reads them, but the maps must be some.
      loader.keys = loader.values = loader.queries;
      if (!status.is_good() || k.data == nullptr) return status;
      const Status keys = encode(loader.keys, box_of(k, span, rows));
      if (!keys.is_good()) return keys;
      return encode(loader.values, box_of(v, span, rows));
    }
  }
};

}  // namespace tw
