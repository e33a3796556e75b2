// Runs kernels on the virtual GPU: any kernel with its parameters, or a product with its plan.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tilewright/launch/checked.h"
#include "tilewright/launch/device_kernel.h"
#include "tilewright/launch/product.h"
#include "tilewright/launch/stated_check.h"
#include "vgpu/im2col_map.h"
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

// The tensors of a described problem.
inline std::vector<vgpu::GlobalRange> touched_by(const Checked& problem) {
  std::vector<vgpu::GlobalRange> ranges;
  const Description& description = problem.description();
  const ProductField* const product = description.product;
  for (std::size_t i = 0; i < description.tensors.size(); ++i) {
    const TensorField& tensor = description.tensors[i];
    const TensorLines& lines = problem.tensor(i);
    if (lines.data == nullptr || (product != nullptr && i == product->d)) continue;
    const bool written = tensor.flow == TensorField::Flow::Written;
    const bool constant = tensor.constant != nullptr && tensor.constant(problem.problem());
    ranges.push_back({lines.data, lines.bytes(), tensor.title, !written, written, constant});
  }
  return product == nullptr ? ranges : TouchedMemory(ranges, problem.product()).ranges();
}

struct EncodeForVirtual {
  Status operator()(TensorMap& map, const MatrixBox& box) const {
    return encode_for_virtual(map, box);
  }
  Status operator()(TensorMap& map, const Im2colBox& box) const {
    return encode_im2col_for_virtual(map, box);
  }
};

// A kernel on the virtual GPU, as CudaKernel and HipKernel have it on theirs.
template <class Skeleton>
class VirtualKernel {
 public:
  using Encode = EncodeForVirtual;
  VirtualKernel(const KernelNeeds& needs, const vgpu::Options& machine, vgpu::Report& report)
      : needs_(needs), machine_(machine), report_(report) {}

  std::vector<vgpu::GlobalRange> touched;  // what the kernel may touch

  // The kernel writes a record of so many tracks for each CTA.
  void traces(const TraceBuffer& trace, unsigned tracks) {
    trace_ = trace;
    tracks_ = tracks;
  }
  Status max_active_clusters(unsigned& clusters) const {
    clusters = machine_.sm_count / needs_.cluster_size;
    return Status::good();
  }
  Status launch(const typename Skeleton::Params& params, unsigned ctas, void* /*stream*/,
                bool /*at_once*/ = false, unsigned cluster = 0) {
    if (trace_.events != nullptr) {
      const std::size_t tracks = std::min(std::size_t{ctas} * tracks_, std::size_t{trace_.tracks});
      touched.push_back(
          {trace_.events, tracks * trace_.capacity * sizeof(TraceEvent), "trace", false});
      touched.push_back({trace_.counts, tracks * sizeof(std::uint32_t), "trace counts", true});
    }
    const vgpu::Launch launch = {ctas,
                                 cluster != 0 ? cluster : needs_.cluster_size,
                                 needs_.threads,
                                 needs_.shared_bytes,
                                 [&params] { Skeleton::run(params); },
                                 needs_.lanes,
                                 needs_.dependent_launch,
                                 needs_.registers,
                                 {},
                                 {},
                                 {},
                                 std::as_bytes(std::span(&params, 1))};
    report_ = vgpu::run(launch, touched, machine_);
    return Status::good();
  }

 private:
  const KernelNeeds& needs_;
  const vgpu::Options& machine_;
  vgpu::Report& report_;
  TraceBuffer trace_ = {};
  unsigned tracks_ = 0;
};

// Memory that a launch asks for. Its counters are its first bytes, or lie apart, as those of
// captured calls do.
class VirtualWorkspace {
 public:
  VirtualWorkspace(std::size_t bytes, bool has_counters_apart)
      : memory_((bytes + 7) / 8),
        counters_(has_counters_apart && bytes > 0 ? workspace_counter_bytes / 8 : 0) {}
  Workspace workspace() {
    return {memory_.data(), memory_.size() * 8, counters_.empty() ? nullptr : counters_.data()};
  }
  void add_to(std::vector<vgpu::GlobalRange>& touched) {
    const std::span<std::uint64_t> counted = counters();
    const auto parts = std::span(memory_).subspan(counters_.empty() ? counted.size() : 0);
    if (!counted.empty()) {
      touched.push_back({counted.data(), counted.size_bytes(), "counters", true, true});
    }
    if (!parts.empty()) {
      touched.push_back({parts.data(), parts.size_bytes(), "parts", false, true});
    }
  }
  // Says so where a run that was clean left counters that are not zero.
  void check(vgpu::Report& report) {
    if (report.verdict() != vgpu::Report::Clean) return;
    if (std::ranges::all_of(counters(), [](std::uint64_t bits) { return bits == 0; })) return;
    report.incomplete.push_back(
        "The counters of the workspace are not zero after the launch; the next one needs them so.");
  }

 private:
  std::span<std::uint64_t> counters() {
    if (!counters_.empty()) return counters_;
    return std::span(memory_).first(std::min(memory_.size(), workspace_counter_bytes / 8));
  }
  std::vector<std::uint64_t> memory_, counters_;
};

// `make_plan` plans the launch, as plan() does; `touched` is what it may touch beside the
// workspace.
template <class Kernel, class MakePlan>
Status simulate_planned(const MatmulProblem& problem, const LaunchOrder& order,
                        const TraceBuffer& trace, const vgpu::Options& options,
                        vgpu::Report& report, const TouchedMemory& touched,
                        const MakePlan& make_plan) {
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return Status::good();
  VirtualKernel<Skeleton> kernel(needs_of<Kernel, Skeleton>, options, report);
  unsigned max_clusters = 0;
  (void)kernel.max_active_clusters(max_clusters);
  VirtualWorkspace memory(workspace_bytes<Kernel>(problem, order, max_clusters), false);
  typename Skeleton::Params params;
  MatmulGrid grid = {};
  Status planned = make_plan(params, grid, max_clusters, memory.workspace());
  if (!planned.is_good()) return planned;
  kernel.touched = touched.ranges();
  memory.add_to(kernel.touched);
  if constexpr (Kernel::config.tracing == Tracing::On) {
    params.trace = trace;
    kernel.traces(trace, Skeleton::tracks);
  }
  const Status launched = kernel.launch(params, grid.ctas, nullptr);
  memory.check(report);
  return launched;
}

// Plans a product and runs it. A refusal makes the report incomplete.
template <class Product>
vgpu::Report simulate(const MatmulProblem& given, const vgpu::Options& options = {}) {
  vgpu::Report report;
  Status status = check(given);
  if (status.is_good()) {
    const MatmulProblem problem = product_of(Product::config.tiling, given);
    status = simulate_planned<Product>(
        problem, {}, {}, options, report, TouchedMemory(given),
        [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
          return plan<Product>(params, grid, problem, {}, max_clusters, workspace,
                               encode_for_virtual);
        });
  }
  if (!status.is_good()) report.incomplete.push_back(status.sentence());
  return report;
}

}  // namespace tw
