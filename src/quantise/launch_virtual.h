// Runs one instance on the virtual GPU.
#pragma once

#include "tilewright/host/quantise.h"
#include "vgpu/machine/machine.h"

namespace tw {

template <class Parts, unsigned scale_rows>
Status simulate_quantise(const QuantiseProblem& problem, const vgpu::Options& options,
                         vgpu::Report& report) {
  using Kernel = kernel::Streaming<Parts>;
  if (Status status = check(problem, scale_rows, Parts::Stream::tile_rows); !status.is_good())
    return status;
  if (problem.is_empty()) return Status::good();
  typename Kernel::Params params;
  unsigned ctas = 0;
  if (Status planned = plan<Parts>(params, ctas, problem, options.sm_count); !planned.is_good()) {
    return planned;
  }
  const auto range = [&](const void* data, std::int64_t lines, std::int64_t length,
                         std::int64_t pitch, std::int64_t batch_pitch, unsigned bytes,
                         const char* name, bool written) {
    const auto elements =
        static_cast<std::size_t>((problem.batch - 1) * batch_pitch + (lines - 1) * pitch + length);
    return vgpu::GlobalRange{data, elements * bytes, name, !written, written};
  };
  const bool by_k = problem.scales_major == Major::K;
  const std::int64_t lines = problem.scale_lines(), blocks = problem.k_blocks();
  const vgpu::GlobalRange touched[] = {
      range(problem.source, problem.m, problem.k, problem.source_pitch, problem.source_batch_pitch,
            bytes_of(problem.source_type), "source", false),
      range(problem.elements, problem.m, problem.k, problem.elements_pitch,
            problem.elements_batch_pitch, 1, "elements", true),
      range(problem.scales, by_k ? lines : blocks, by_k ? blocks : lines, problem.scales_pitch,
            problem.scales_batch_pitch, 4, "scales", true)};
  const vgpu::Launch launch = {ctas, 1, Kernel::threads, sizeof(typename Kernel::Storage),
                               [&params] { Kernel::run(params); }};
  report = vgpu::run(launch, touched, options);
  return Status::good();
}

}  // namespace tw
