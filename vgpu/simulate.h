// Runs kernels on the virtual GPU: any kernel with its parameters, or a product with its plan.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tilewright/launch/product.h"
#include "vgpu/machine/machine.h"
#include "vgpu/tensor_map.h"

namespace tw {

// A Kernel has run(params), Storage and threads. `memory` is all that it may touch.
template <class Kernel>
vgpu::Report simulate(const typename Kernel::Params& params, unsigned ctas,
                      std::span<const vgpu::GlobalRange> memory, const vgpu::Options& options) {
  return vgpu::run({ctas, 1, Kernel::threads, sizeof(typename Kernel::Storage),
                    [&params] { Kernel::run(params); }},
                   memory, options);
}

// Registers of each thread with which a kernel is launched that shifts them; 0: another one.
template <class Parts>
constexpr unsigned launched_registers() {
  constexpr RoleTable roles = Parts::roles;
  if constexpr (!roles.shifts_registers()) {
    return 0;
  } else {
    return roles.launched_registers(Parts::Target::registers) / roles.threads();
  }
}

// What the kernel may touch.
class TouchedMemory {
 public:
  explicit TouchedMemory(const MatmulProblem& problem) : batch_(problem.batch) {
    if (problem.k > 0) {
      operand(problem.a, problem.m, problem.k, "A");
      operand(problem.b, problem.n, problem.k, "B");
    }
    outputs(problem);
  }
  explicit TouchedMemory(const std::vector<vgpu::GlobalRange>& ranges)
      : batch_(1), ranges_(ranges) {}
  // D, and what the epilogue touches, beside what is known already.
  TouchedMemory(const std::vector<vgpu::GlobalRange>& ranges, const MatmulProblem& problem)
      : batch_(problem.batch), ranges_(ranges) {
    outputs(problem);
  }
  void add(const vgpu::GlobalRange& range) {
    if (range.bytes > 0) ranges_.push_back(range);
  }
  void operand(const MatmulOperand& operand, std::int64_t rows, std::int64_t k, const char* name) {
    const bool by_k = operand.major == Major::K;
    matrix(operand.data, by_k ? rows : k, by_k ? k : rows, operand.pitch, operand.batch_pitch,
           operand.type, name, true, false);
  }
  const std::vector<vgpu::GlobalRange>& ranges() const { return ranges_; }

 private:
  void outputs(const MatmulProblem& problem) {
    const EpilogueArguments& epilogue = problem.epilogue;
    const std::int64_t columns = epilogue.gated ? problem.n / 2 : problem.n;
    const bool in_place = epilogue.source == problem.d.data;  // then C is read before D is written
    matrix(problem.d.data, problem.m, columns, problem.d.pitch, problem.d.batch_pitch,
           problem.d.type, "D", in_place, true);
    if (epilogue.source != nullptr && !in_place) {
      matrix(epilogue.source, problem.m, columns, epilogue.source_pitch,
             epilogue.source_batch_pitch, epilogue.source_type, "C", true, false);
    }
    if (epilogue.auxiliary != nullptr) {
      matrix(epilogue.auxiliary, problem.m, problem.n, epilogue.auxiliary_pitch,
             epilogue.auxiliary_batch_pitch, epilogue.auxiliary_type, "auxiliary", false, true);
    }
    const std::size_t bias_bytes = bytes_of(epilogue.bias_type);
    vector(epilogue.column_bias, problem.n, bias_bytes, "column bias");
    vector(epilogue.row_bias, problem.m, bias_bytes, "row bias");
    vector(epilogue.column_scale, problem.n, 4, "column scale");
    vector(epilogue.row_scale, problem.m, 4, "row scale");
    if (epilogue.amax != nullptr) ranges_.push_back({epilogue.amax, 4, "amax", true, true});
  }
  void matrix(const void* data, std::int64_t lines, std::int64_t length, std::int64_t pitch,
              std::int64_t batch_pitch, ElementType type, const char* name, bool initialised,
              bool writable) {
    const std::int64_t elements = (batch_ - 1) * batch_pitch + (lines - 1) * pitch + length;
    ranges_.push_back(
        {data, static_cast<std::size_t>(elements) * bytes_of(type), name, initialised, writable});
  }
  void vector(const void* data, std::int64_t count, std::size_t bytes, const char* name) {
    if (data != nullptr) {
      ranges_.push_back({data, static_cast<std::size_t>(count) * bytes, name, true, false});
    }
  }

  std::int64_t batch_;
  std::vector<vgpu::GlobalRange> ranges_;
};

// `make_plan` plans the launch, as plan() does; `touched` is what it may touch beside the
// workspace.
template <class Parts, class MakePlan>
Status simulate_planned(const MatmulProblem& problem, const LaunchOrder& order,
                        const TraceBuffer& trace, const vgpu::Options& options,
                        vgpu::Report& report, TouchedMemory touched, const MakePlan& make_plan) {
  using Kernel = kernel::WarpSpecialized<Parts>;
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return Status::good();
  typename Kernel::Params params;
  MatmulGrid grid = {};
  const unsigned max_clusters = options.sm_count / Parts::config.tiling.cluster.size();
  std::vector<std::uint64_t> memory(workspace_bytes<Parts>(problem, order, max_clusters) / 8 + 1);
  const Workspace workspace = {memory.data(), memory.size() * 8};
  Status planned = make_plan(params, grid, max_clusters, workspace);
  if (!planned.is_good()) return planned;
  if constexpr (Parts::config.tracing == Tracing::On) params.trace = trace;

  const std::size_t counters = std::min(workspace.bytes, workspace_counter_bytes);
  touched.add({memory.data(), counters, "counters", true, true});
  touched.add({memory.data() + counters / 8, workspace.bytes - counters, "parts", false, true});
  if (trace.events != nullptr) {
    const std::size_t tracks = grid.ctas * Kernel::tracks;
    touched.add({trace.events, tracks * trace.capacity * sizeof(TraceEvent), "trace", false});
    touched.add({trace.counts, tracks * sizeof(std::uint32_t), "trace counts", true});
  }
  const vgpu::Launch launch = {grid.ctas,
                               grid.cluster_size,
                               grid.threads,
                               grid.shared_bytes,
                               [&params] { Kernel::run(params); },
                               Parts::Target::target.lanes,
                               Parts::dependent_launch,
                               launched_registers<Parts>(),
                               {},
                               std::as_bytes(std::span(&params, 1))};
  report = vgpu::run(launch, touched.ranges(), options);
  if (report.verdict() == vgpu::Report::Clean &&
      std::any_of(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(counters / 8),
                  [](std::uint64_t bits) { return bits != 0; })) {
    report.incomplete.push_back(
        "The counters of the workspace are not zero after the launch; the next one needs them so.");
  }
  return Status::good();
}

// Plans a product and runs it. A refusal makes the report incomplete.
template <class Product>
vgpu::Report simulate(const MatmulProblem& problem, const vgpu::Options& options = {}) {
  vgpu::Report report;
  Status status = check(problem);
  if (status.is_good()) {
    status = simulate_planned<Product>(
        problem, {}, {}, options, report, TouchedMemory(problem),
        [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
          return plan<Product>(params, grid, problem, {}, max_clusters, workspace,
                               encode_for_virtual);
        });
  }
  if (!status.is_good()) report.incomplete.push_back(status.sentence());
  return report;
}

}  // namespace tw
