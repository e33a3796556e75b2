// Runs one instance on the virtual GPU.
#pragma once

#include <vector>

#include "src/matmul/instance.h"
#include "vgpu/data/tile_map.h"
#include "vgpu/machine/machine.h"

namespace tw {

inline Status encode_for_virtual(TensorMap& map, const MatrixBox& box) {
  vgpu::TileMap tile_map{};
  tile_map.base = const_cast<void*>(box.base);
  tile_map.element_bytes = bytes_of(box.type);
  tile_map.rank = 3;
  tile_map.extents[0] = static_cast<std::uint64_t>(box.inner);
  tile_map.extents[1] = static_cast<std::uint64_t>(box.outer);
  tile_map.extents[2] = static_cast<std::uint64_t>(box.batch);
  tile_map.pitch_bytes[0] = static_cast<std::uint64_t>(box.pitch_bytes);
  tile_map.pitch_bytes[1] = static_cast<std::uint64_t>(box.encoded_batch_pitch());
  tile_map.box[0] = box.box_inner;
  tile_map.box[1] = box.box_outer;
  tile_map.swizzle = static_cast<vgpu::MapSwizzle>(box.swizzle);
  if (Status status = vgpu::check(tile_map); !status.is_good()) return status;
  map = vgpu::encode(tile_map);
  return Status::good();
}

template <class Parts>
Status simulate_matmul(const MatmulProblem& problem, const MatmulOrder& order,
                       const TraceBuffer& trace, const vgpu::Options& options,
                       vgpu::Report& report) {
  using Kernel = kernel::WarpSpecialized<Parts>;
  if (Status status = check(problem); !status.is_good()) return status;
  if (problem.m == 0 || problem.n == 0) return Status::good();
  typename Kernel::Params params;
  MatmulGrid grid;
  Status planned = plan<Parts>(params, grid, problem, order,
                               options.sm_count / Parts::config.cluster.size(), encode_for_virtual);
  if (!planned.is_good()) return planned;
  if constexpr (Parts::config.tracing == Tracing::On) params.trace = trace;

  const auto bytes = [](std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
    return static_cast<std::size_t>(rows == 0 ? 0 : (rows - 1) * pitch + columns) * sizeof(Bf16);
  };
  std::vector<vgpu::GlobalRange> ranges;
  if (problem.k > 0) {
    ranges.push_back({problem.a, bytes(problem.m, problem.k, problem.a_pitch), "A", true, false});
    ranges.push_back({problem.b, bytes(problem.n, problem.k, problem.b_pitch), "B", true, false});
  }
  const bool in_place = problem.source == problem.d;  // then D is C, and read before it is written
  ranges.push_back({problem.d, bytes(problem.m, problem.n, problem.d_pitch), "D", in_place, true});
  if (problem.source != nullptr && !in_place) {
    ranges.push_back(
        {problem.source, bytes(problem.m, problem.n, problem.source_pitch), "C", true, false});
  }
  if (problem.bias != nullptr) {
    ranges.push_back({problem.bias, static_cast<std::size_t>(problem.n) * 2, "bias", true, false});
  }
  if (trace.events != nullptr) {
    const std::size_t tracks = grid.ctas * Kernel::tracks;
    ranges.push_back({trace.events, tracks * trace.capacity * sizeof(TraceEvent), "trace", false});
    ranges.push_back({trace.counts, tracks * sizeof(std::uint32_t), "trace counts", true});
  }
  const vgpu::Launch launch = {grid.ctas, grid.cluster_size, grid.threads, grid.shared_bytes,
                               [&params] { Kernel::run(params); }};
  report = vgpu::run(launch, ranges, options);
  return Status::good();
}

}  // namespace tw
