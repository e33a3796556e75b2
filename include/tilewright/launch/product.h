// The plan of a product, as one kernel computes it (launch/kernel_problem.h): the parameters and
// the grid of a launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "tilewright/base/status.h"
#include "tilewright/bind/recipe.h"
#include "tilewright/epilogue/begun.h"
#include "tilewright/io/operand.h"
#include "tilewright/launch/kernel_problem.h"
#include "tilewright/launch/matmul_check.h"
#include "tilewright/launch/tensor_map.h"

namespace tw {

// How much work a product is, and how it is cut. Counts that do not fit are the largest number.
template <class Kernel>
struct MatmulExtent {
  static constexpr MatmulConfig config = Kernel::config;
  std::int64_t tiles_m, tiles_n, k_tiles, splits, tiles, clusters, slots;

  MatmulExtent(const MatmulProblem& problem, const LaunchOrder& order, unsigned max_clusters) {
    const auto count = [](std::int64_t extent, std::int64_t tile) {
      return (extent + tile - 1) / tile;
    };
    tiles_m = count(problem.m, config.tiling.m * config.tiling.cluster.m);
    tiles_n = count(problem.n, config.tiling.n * config.tiling.cluster.n);
    tiles = saturated_product(saturated_product(tiles_m, tiles_n), problem.batch);
    // A scale of zero means that the operand is not read: it may hold anything, NaN too.
    k_tiles = problem.epilogue.alpha == 0.0f ? 0 : count(problem.k, Kernel::tiling.k());
    splits = config.split == Split::Parts
                 ? std::clamp<std::int64_t>(order.split_k, 1, std::max<std::int64_t>(k_tiles, 1))
                 : 1;
    std::int64_t work = saturated_product(tiles, splits);
    if (config.split == Split::Stream && k_tiles > 0) work = saturated_product(tiles, k_tiles);
    clusters = Kernel::Schedule::one_wave ? std::min<std::int64_t>(work, max_clusters) : work;
    slots = 0;
    if (config.split == Split::Parts) {
      slots = saturated_product(tiles, config.keeps_last_part() ? splits : splits - 1);
    }
    if (config.split == Split::Stream) slots = clusters;
    slots = saturated_product(slots, config.tiling.cluster.size());
  }
};

namespace detail {

constexpr std::size_t ticket_bytes = 256;

// Parts of sums wait for each other in a workspace.
template <class Kernel>
constexpr bool keeps_parts =
    Kernel::config.split == Split::Parts || Kernel::config.split == Split::Stream;

// Tiles, slots and CTAs are counted with 31 bits, in kernels and by CUDA.
template <class Kernel>
Status countable(const MatmulExtent<Kernel>& extent) {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  const std::int64_t tiles = saturated_product(extent.tiles, extent.splits);
  const std::int64_t ctas =
      saturated_product(extent.clusters, Kernel::config.tiling.cluster.size());
  if (tiles < limit && extent.slots < limit && ctas < limit) return Status::good();
  return Status::refused("The problem has " + std::to_string(tiles) +
                         " tiles; at most 2^31 - 1 can be counted.");
}

// Threads that copy an operand element by element read it along whichever side: what they write is
// K-major. Copies of whole chunks keep the lines of memory.
template <class Loader>
constexpr bool reads_any_major = false;
template <class Loader>
requires(!Loader::elected && !Loader::asynchronous) constexpr bool reads_any_major<Loader> = true;

template <class Loader>
constexpr bool copies_by_threads = false;
template <class Loader>
requires(!Loader::elected) constexpr bool copies_by_threads<Loader> = true;

// Where sums are made in parts, each warp counts in each slot.
template <class Kernel>
Status counters_fit(std::int64_t slots) {
  const std::size_t needed = Kernel::Reduction::counter_bytes(static_cast<std::size_t>(slots));
  constexpr std::size_t room = workspace_counter_bytes - ticket_bytes;
  if (needed <= room) return Status::good();
  return Status::refused("The sums have " + std::to_string(slots) + " parts, whose counters need " +
                         std::to_string(needed) + " bytes; a workspace has room for " +
                         std::to_string(room) + ".");
}

}  // namespace detail

template <class Kernel>
constexpr ProductFacts facts_of = {
    Kernel::config,
    Kernel::stages,
    kernel::WarpSpecialized<Kernel>::tracks,
    Kernel::Loader::least_alignment <= bytes_of(Kernel::config.tiling.a_type),
    detail::reads_any_major<typename Kernel::Loader>,
    detail::copies_by_threads<typename Kernel::Loader>,
    Kernel::Recipe::b_scale_rows};

// Why a kernel's operands must be what they are: TMA reads rows at multiples of 16 bytes.
template <class Kernel>
Status check_operands(const MatmulProblem& problem) {
  return check_operands(problem, Kernel::config, detail::reads_any_major<typename Kernel::Loader>,
                        Kernel::Loader::least_alignment);
}

template <class Kernel>
Status supports(const MatmulProblem& problem, const LaunchOrder& order) {
  constexpr MatmulConfig config = Kernel::config;
  Status status = check_operands<Kernel>(problem);
  if (!status.is_good()) return status;
  if (config.tiling.loaded_rows != 0 && problem.m > config.tiling.loaded_rows) {
    return Status::refused("m is " + std::to_string(problem.m) +
                           ", but this kernel is for few rows: at most " +
                           std::to_string(config.tiling.loaded_rows) + ".");
  }
  if (config.plain_epilogue != 0 && !RuntimeEpilogue::is_plain(problem.epilogue)) {
    return Status::refused(
        "This kernel stores alpha * sums alone; the problem's epilogue has more parts.");
  }
  if constexpr (config.initial_c != 0) {
    EpilogueArguments epilogue = problem.epilogue;
    if (epilogue.beta == 0.0f) epilogue.source = nullptr;
    if (!begins_sums<config.d_type>(epilogue, problem.n)) {
      return Status::refused(
          "This kernel's sums begin at C and a bias of columns: alpha and beta must be 1, C of D's "
          "type, n even and pairs of columns aligned, and behind the sums is relu or nothing.");
    }
  }
  if constexpr (Kernel::Sources::has_role) {
    const EpilogueArguments& epilogue = problem.epilogue;
    if (epilogue.source != nullptr && epilogue.beta != 0.0f) {
      if (epilogue.source_type != config.d_type || epilogue.gated) {
        return Status::refused(std::string("This kernel stages C, which must have D's type (") +
                               name_of(config.d_type) + ") and no gate.");
      }
      const unsigned aligned = alignment_of(epilogue.source, epilogue.source_pitch, problem.batch,
                                            epilogue.source_batch_pitch, epilogue.source_type);
      if (aligned < 16) {
        return Status::refused(alignment_sentence("C", epilogue.source_pitch, aligned, 16));
      }
    }
  }
  if (config.split != Split::Parts && order.split_k != 1) {
    return Status::refused(
        "split-K is " + std::to_string(order.split_k) +
        ", but this kernel does not cut sums into parts of the caller's number.");
  }
  if ((config.split == Split::Stream) != order.stream_k) {
    return Status::refused(order.stream_k ? "This kernel does not stream k."
                                          : "This kernel streams k, which was not asked for.");
  }
  const MatmulExtent<Kernel> extent(problem, order, 1);
  status = detail::countable(extent);
  if (!status.is_good()) return status;
  if constexpr (config.split == Split::Parts) return detail::counters_fit<Kernel>(extent.slots);
  return Status::good();
}

template <class Kernel>
std::size_t workspace_bytes(const MatmulProblem& problem, const LaunchOrder& order,
                            unsigned max_clusters) {
  const MatmulExtent<Kernel> extent(problem, order, max_clusters);
  if constexpr (detail::keeps_parts<Kernel>) {
    return workspace_counter_bytes +
           Kernel::Reduction::part_bytes(static_cast<std::size_t>(extent.slots));
  }
  return Kernel::Schedule::draws_tickets ? workspace_counter_bytes : 0;
}

namespace detail {

inline OperandView view_of(const MatmulOperand& operand, const MatmulProblem& problem,
                           std::int64_t rows) {
  const bool by_k = operand.major == Major::K;
  return {
      operand.data,
      by_k ? operand.pitch : 1,
      by_k ? 1 : operand.pitch,
      operand.batch_pitch,
      static_cast<int>(rows),
      static_cast<int>(problem.k),
      alignment_of(operand.data, operand.pitch, problem.batch, operand.batch_pitch, operand.type)};
}

// Where tiles of `tile` may begin, at multiples of `step`. What the last one reaches back over is
// stored twice, so C must not be D (without a C it is not), sums must be cut alike, and no node of
// the epilogue may have to see each element once.
template <class Kernel>
int last_begin(const MatmulProblem& problem, std::int64_t extent, unsigned tile, unsigned step) {
  const bool reads = problem.epilogue.source != nullptr && problem.epilogue.beta != 0.0f;
  if (extent < tile || reads || Kernel::config.split == Split::Stream || Kernel::Epilogue::once) {
    return std::numeric_limits<int>::max();
  }
  return static_cast<int>((extent - tile + step - 1) / step * step);
}
// D's columns begin at multiples of 16 bytes; one is of two where it is gated.
inline unsigned column_step(const MatmulProblem& problem) {
  return problem.epilogue.gated ? 32 : 16;
}
// Contiguous rows begin at multiples of 16 bytes. With swap_ab rows are D's
// columns, and columns its rows.
template <class Kernel>
int last_row(const MatmulProblem& problem) {
  if (Kernel::config.tiling.a_major == Major::MN) return std::numeric_limits<int>::max();
  unsigned step = Kernel::config.tiling.swap_ab ? column_step(problem) : 1;
  step = std::max(step, Kernel::Scales::row_step);
  return last_begin<Kernel>(problem, problem.m, Kernel::config.tiling.m, step);
}
template <class Kernel>
int last_column(const MatmulProblem& problem) {
  const unsigned step = Kernel::config.tiling.swap_ab ? 1 : column_step(problem);
  return last_begin<Kernel>(problem, problem.n, Kernel::config.tiling.n,
                            std::max(step, Kernel::Scales::column_step));
}

// Where an operand has at most so many rows, the kernel reads the other operand about once.
constexpr std::int64_t few_rows = 64;

// The matrix of an operand with so many rows that TMA copies in boxes of this shape; the other
// operand has `others` rows.
inline MatrixBox operand_box(const MatmulProblem& problem, const MatmulOperand& operand,
                             std::int64_t rows, std::int64_t others, TmaBox shape) {
  const bool by_k = operand.major == Major::K;
  // With k = 0 nothing is loaded; the map must still be valid, so it shows one line of D.
  if (problem.k == 0) {
    const auto d = reinterpret_cast<std::uintptr_t>(problem.d.data);
    return MatrixBox{.base = reinterpret_cast<const void*>(d / 16 * 16),
                     .type = operand.type,
                     .pitch_bytes = 128,
                     .box_inner = shape.inner,
                     .box_outer = shape.outer};
  }
  const std::int64_t bytes = bytes_of(operand.type);
  return MatrixBox{.base = operand.data,
                   .type = operand.type,
                   .inner = by_k ? problem.k : rows,
                   .outer = by_k ? rows : problem.k,
                   .batch = problem.batch,
                   .pitch_bytes = std::max<std::int64_t>(operand.pitch * bytes, 16),
                   .batch_pitch_bytes = operand.batch_pitch * bytes,
                   .box_inner = shape.inner,
                   .box_outer = shape.outer,
                   .read_once = others <= few_rows};
}

template <class Loader, class Encode>
Status fill_loader(typename Loader::Params& params, const MatmulProblem& problem,
                   const Encode& encode) {
  if constexpr (Loader::elected) {
    const std::int64_t m = problem.m, n = problem.n;
    Status a = encode(params.a, operand_box(problem, problem.a, m, n, Loader::box_a()));
    if (!a.is_good()) return a;
    return encode(params.b, operand_box(problem, problem.b, n, m, Loader::box_b()));
  } else {
    params.a = view_of(problem.a, problem, problem.m);
    params.b = view_of(problem.b, problem, problem.n);
    return Status::good();
  }
}

// The tiles of a schedule that counts for itself, or asks others. Maps have more parameters than
// TileMapParams where they derive from it.
template <class Schedule>
auto& tile_map(Schedule& schedule) {
  if constexpr (requires { schedule.map; }) {
    return tile_map(schedule.map);
  } else {
    return schedule;
  }
}

template <class Epilogue, class Store, class Encode>
Status fill_epilogue(typename Epilogue::Params& params, const MatmulProblem& problem,
                     const Encode& encode) {
  params.m = static_cast<int>(problem.m);
  params.n = static_cast<int>(problem.n);
  // A tree has parameters of its own, which are the caller's to fill after the plan; of the
  // problem's epilogue it has only `gated`.
  if constexpr (requires { params.epilogue = problem.epilogue; }) {
    params.epilogue = problem.epilogue;
    if (problem.epilogue.beta == 0.0f) params.epilogue.source = nullptr;
  }
  params.output.d = problem.d.data;
  params.output.pitch = problem.d.pitch;
  params.output.batch_pitch = problem.d.batch_pitch;
  if constexpr (Store::stores_by_tma) {
    const std::int64_t bytes = bytes_of(problem.d.type);
    params.output.by_tma = alignment_of(problem.d.data, problem.d.pitch, problem.batch,
                                        problem.d.batch_pitch, problem.d.type) == 16;
    params.output.map = {};
    if (params.output.by_tma) {
      const bool gated = problem.epilogue.gated;
      constexpr bool swap_ab = Store::transposes;
      const std::int64_t columns = swap_ab ? problem.m : problem.n;
      return encode(params.output.map,
                    MatrixBox{.base = problem.d.data,
                              .type = problem.d.type,
                              .inner = gated ? columns / 2 : columns,
                              .outer = swap_ab ? problem.n : problem.m,
                              .batch = problem.batch,
                              .pitch_bytes = std::max<std::int64_t>(problem.d.pitch * bytes, 16),
                              .batch_pitch_bytes = problem.d.batch_pitch * bytes,
                              .box_inner = gated ? Store::gated_elements : Store::line_elements,
                              .box_outer = Store::lines,
                              .swizzle = swizzle_of_rows(Store::line_bytes)});
    }
  }
  return Status::good();
}

}  // namespace detail

// Fills the kernel's parameters. `encode` makes a TensorMap of a MatrixBox for the GPU or the
// virtual GPU and returns a Status; `fill_loader` fills the loader's; `max_clusters` clusters fit
// the device at once. The problem has at least one output element.
template <class Kernel, class Encode, class FillLoader>
Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
            const MatmulProblem& problem, const LaunchOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode, const FillLoader& fill_loader) {
  constexpr MatmulConfig config = Kernel::config;
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  static_assert(sizeof(typename Skeleton::Storage) <= Kernel::Target::shared_bytes,
                "Stages, staging and barriers do not fit the shared memory of an SM.");
  if (Status status = supports<Kernel>(problem, order); !status.is_good()) return status;
  constexpr unsigned cluster_size = config.tiling.cluster.size();
  if (max_clusters == 0) {
    return Status::refused("No cluster of " + std::to_string(cluster_size) + " CTAs with " +
                           std::to_string(sizeof(typename Skeleton::Storage)) +
                           " bytes of shared memory each fits the device.");
  }
  const MatmulExtent<Kernel> extent(problem, order, max_clusters);
  if (Status status = detail::countable(extent); !status.is_good()) return status;
  const std::size_t needed = workspace_bytes<Kernel>(problem, order, max_clusters);
  if (workspace.bytes < needed) {
    return Status::refused("The workspace has " + std::to_string(workspace.bytes) +
                           " bytes, but this launch needs " + std::to_string(needed) + ".");
  }

  if (Status loads = fill_loader(params.loader); !loads.is_good()) return loads;
  Status stores = detail::fill_epilogue<typename Kernel::Epilogue, typename Kernel::Store>(
      params.epilogue, problem, encode);
  if (!stores.is_good()) return stores;

  if constexpr (Kernel::Sources::has_role) {
    const EpilogueArguments& epilogue = problem.epilogue;
    params.sources.map = {};
    params.sources.present = epilogue.source != nullptr && epilogue.beta != 0.0f ? 1 : 0;
    if (params.sources.present != 0) {
      const std::int64_t bytes = bytes_of(epilogue.source_type);
      Status brings =
          encode(params.sources.map,
                 MatrixBox{.base = epilogue.source,
                           .type = epilogue.source_type,
                           .inner = problem.n,
                           .outer = problem.m,
                           .batch = problem.batch,
                           .pitch_bytes = std::max<std::int64_t>(epilogue.source_pitch * bytes, 16),
                           .batch_pitch_bytes = epilogue.source_batch_pitch * bytes,
                           .box_inner = Kernel::Sources::chunk_columns,
                           .box_outer = Kernel::Sources::chunk_rows,
                           .swizzle = swizzle_of_rows(Kernel::Store::line_bytes)});
      if (!brings.is_good()) return brings;
    }
  }

  TileMapParams<typename Kernel::Order> map;
  map.tiles_m = static_cast<int>(extent.tiles_m);
  map.tiles_n = static_cast<int>(extent.tiles_n);
  map.batches = static_cast<int>(problem.batch);
  map.k_tiles = static_cast<int>(extent.k_tiles);
  map.m = static_cast<int>(config.tiling.swap_ab != 0 ? problem.n : problem.m);
  map.last_row = detail::last_row<Kernel>(problem);
  map.last_column = detail::last_column<Kernel>(problem);
  map.splits = static_cast<int>(extent.splits);
  map.order.raster = order.raster;
  const int fast = order.raster == Raster::AlongM ? map.tiles_m : map.tiles_n;
  const int group = std::min(order.group > 0 ? order.group : 4, fast);
  map.order.group = static_cast<std::uint16_t>(std::min(group, 65535));
  map.weights_are_constant = problem.b_is_constant ? 1 : 0;
  map.foresee();

  [[maybe_unused]] auto* const memory = static_cast<unsigned char*>(workspace.data);
  [[maybe_unused]] auto* const counters = static_cast<unsigned char*>(workspace.counters());
  TileMapParams<typename Kernel::Order>& tiles = detail::tile_map(params.schedule);
  tiles = map;
  if constexpr (Kernel::Schedule::draws_tickets) {
    params.schedule.counter = reinterpret_cast<std::uint32_t*>(counters);
    params.schedule.work = static_cast<int>(extent.tiles * extent.splits);
  }
  if constexpr (detail::keeps_parts<Kernel>) {
    if (Status status = detail::counters_fit<Kernel>(extent.slots); !status.is_good())
      return status;
    params.reduction.counters = reinterpret_cast<std::uint32_t*>(counters + detail::ticket_bytes);
    params.reduction.parts = memory + workspace_counter_bytes;
    if constexpr (config.finishers != 1) {
      // Parts that wait for each other must run at once: each is the only work of its cluster.
      const bool at_once = extent.tiles * extent.splits == extent.clusters;
      unsigned finishers = at_once && extent.splits >= shared_parts ? config.finishers : 1;
      while (finishers > extent.splits) finishers /= 2;
      params.reduction.finishers = finishers;
      // The part that finishes a column adds its own sums last. A tile that reached back over
      // columns of its neighbour would give them another finisher, and sums of other bits.
      if (finishers > 1) tiles.last_column = std::numeric_limits<int>::max();
    }
  }
  grid = {static_cast<unsigned>(extent.clusters) * cluster_size};
  return Status::good();
}

template <class Kernel, class Encode>
Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
            const MatmulProblem& problem, const LaunchOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  return plan<Kernel>(params, grid, problem, order, max_clusters, workspace, encode,
                      [&](typename Kernel::Loader::Params& loader) {
                        return detail::fill_loader<typename Kernel::Loader>(loader, problem,
                                                                            encode);
                      });
}

}  // namespace tw
