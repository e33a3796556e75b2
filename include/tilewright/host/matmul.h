// The host side of matmul: the problem, what it must satisfy, and the plan of a launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "tilewright/base/status.h"
#include "tilewright/family/matmul.h"
#include "tilewright/host/matmul_problem.h"
#include "tilewright/host/tensor_map.h"

namespace tw {

// In which order tiles are taken; 0 leaves the choice to the plan.
struct MatmulOrder {
  int group = 0;
  Raster raster = Raster::AlongM;
};

struct MatmulGrid {
  unsigned ctas;
  unsigned cluster_size;
  unsigned threads;
  std::size_t shared_bytes;
};

namespace detail {

inline Status check_operand(const char* name, const void* pointer, std::int64_t rows,
                            std::int64_t columns, std::int64_t pitch) {
  const std::string what = std::string(name);
  constexpr std::int64_t pitch_limit = std::int64_t{1} << 39;
  if (pointer == nullptr) return Status::refused("The address of " + what + " is null.");
  if (pitch >= pitch_limit) {
    return Status::refused("The pitch of " + what + " is " + std::to_string(pitch) +
                           " elements; TMA takes less than 2^40 bytes, that is 2^39 bf16.");
  }
  if (rows > 0 && pitch < columns) {
    return Status::refused("The pitch of " + what + " is " + std::to_string(pitch) +
                           " elements, but its rows have " + std::to_string(columns) + ".");
  }
  if (pitch % 8 != 0) {
    return Status::refused("The pitch of " + what + " is " + std::to_string(pitch) +
                           " elements; TMA needs a multiple of 16 bytes, that is of 8 bf16.");
  }
  if (reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0) {
    return Status::refused("The address of " + what + " is not a multiple of 16 bytes.");
  }
  return Status::good();
}

}  // namespace detail

inline Status check(const MatmulProblem& problem) {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  const std::pair<const char*, std::int64_t> extents[] = {
      {"m", problem.m}, {"n", problem.n}, {"k", problem.k}};
  for (const auto& [name, value] : extents) {
    if (value < 0 || value >= limit - 256) {
      return Status::refused(std::string(name) + " = " + std::to_string(value) +
                             " must be at least 0 and below 2^31 - 256.");
    }
  }
  if (problem.m == 0 || problem.n == 0) return Status::good();
  if (problem.k > 0) {
    Status a = detail::check_operand("A", problem.a, problem.m, problem.k, problem.a_pitch);
    if (!a.is_good()) return a;
    Status b = detail::check_operand("B", problem.b, problem.n, problem.k, problem.b_pitch);
    if (!b.is_good()) return b;
  }
  if (problem.beta != 0.0f && problem.source == nullptr) {
    return Status::refused("beta is " + std::to_string(problem.beta) +
                           ", but there is no C to scale with it.");
  }
  if (problem.source != nullptr && problem.source_pitch < problem.n) {
    return Status::refused("The pitch of C is " + std::to_string(problem.source_pitch) +
                           " elements, but its rows have " + std::to_string(problem.n) + ".");
  }
  return detail::check_operand("D", problem.d, problem.m, problem.n, problem.d_pitch);
}

// Fills the kernel's parameters. `encode` makes a TensorMap of a MatrixBox for the GPU or the
// virtual GPU and returns a Status; `max_clusters` clusters fit the device at once. The problem has
// at least one output element.
template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const MatmulProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Encode& encode) {
  constexpr MatmulConfig config = Parts::config;
  using Kernel = kernel::WarpSpecialized<Parts>;
  static_assert(sizeof(typename Kernel::Storage) <= Sm90::shared_bytes,
                "Stages, staging and barriers do not fit the shared memory of an SM.");

  // With k = 0 nothing is loaded; the maps must still be valid, so they show one column of D.
  const bool empty = problem.k == 0;
  const MatrixBox a = {empty ? problem.d : problem.a, problem.m,
                       empty ? 1 : problem.k,         empty ? problem.d_pitch : problem.a_pitch,
                       Parts::Loader::BoxA::box_rows, config.tile_k};
  const MatrixBox b = {empty ? problem.d : problem.b, empty ? problem.m : problem.n,
                       empty ? 1 : problem.k,         empty ? problem.d_pitch : problem.b_pitch,
                       Parts::Loader::BoxB::box_rows, config.tile_k};
  const MatrixBox d = {problem.d, problem.m, problem.n, problem.d_pitch, 64, 64};
  for (auto [box, map] : {std::pair{&a, &params.loader.a}, std::pair{&b, &params.loader.b},
                          std::pair{&d, &params.epilogue.map}}) {
    Status status = encode(*map, *box);
    if (!status.is_good()) return status;
  }
  params.epilogue.d = problem.d;
  params.epilogue.pitch_bytes = problem.d_pitch * static_cast<std::int64_t>(sizeof(Bf16));
  params.epilogue.m = static_cast<int>(problem.m);
  params.epilogue.n = static_cast<int>(problem.n);
  // A scale of zero means that the operand is not read: it may hold anything, NaN too.
  params.epilogue.node = {problem.alpha, problem.beta,
                          problem.beta == 0.0f ? nullptr : problem.source, problem.source_pitch,
                          problem.bias};

  const auto tiles = [](std::int64_t extent, unsigned tile) {
    return static_cast<int>((extent + tile - 1) / tile);
  };
  auto& schedule = params.schedule;
  schedule.tiles_m = tiles(problem.m, config.tile_m * config.cluster.m);
  schedule.tiles_n = tiles(problem.n, config.tile_n * config.cluster.n);
  schedule.k_tiles = problem.alpha == 0.0f ? 0 : tiles(problem.k, config.tile_k);
  schedule.raster = order.raster;
  const int fast = order.raster == Raster::AlongM ? schedule.tiles_m : schedule.tiles_n;
  schedule.group = std::min(order.group > 0 ? order.group : 4, fast);

  const unsigned cluster_size = config.cluster.size();
  const std::int64_t work = std::int64_t{schedule.tiles_m} * schedule.tiles_n;
  if (work >= std::int64_t{1} << 31) {
    return Status::refused("The problem has " + std::to_string(work) +
                           " tiles; at most 2^31 - 1 can be counted.");
  }
  if (max_clusters == 0) {
    return Status::refused("No cluster of " + std::to_string(cluster_size) + " CTAs with " +
                           std::to_string(sizeof(typename Kernel::Storage)) +
                           " bytes of shared memory each fits the device.");
  }
  const auto clusters = static_cast<unsigned>(std::min<std::int64_t>(work, max_clusters));
  grid = {clusters * cluster_size, cluster_size, Kernel::threads, sizeof(typename Kernel::Storage)};
  return Status::good();
}

}  // namespace tw
