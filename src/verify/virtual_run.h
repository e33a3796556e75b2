// Verified runs on the virtual GPU.
#pragma once

#include <string>

#include "src/instances/instance.h"
#include "src/verify/compare.h"
#include "vgpu/machine/machine.h"

namespace tw {

struct VirtualRun {
  Status status = Status::good();  // refused: nothing ran
  vgpu::Report report;
  Comparison comparison;
  MatmulData data;     // with the outputs of the run
  double seconds = 0;  // the run itself, without making and checking the data

  bool clean() const {
    return status.is_good() && report.verdict() == vgpu::Report::Clean && comparison.good();
  }
  // What is wrong, in sentences; empty when clean.
  std::string complaint() const;
};

Status no_virtual_gpu();

// The answer to one problem, computed once for many schedules.
struct VerifiedProblem {
  VerifiedProblem(const MatmulShape& shape, Fill fill, std::uint64_t seed)
      : shape(shape),
        fill(fill),
        data(make_matmul_data(shape, fill, seed)),
        reference(reference_on_host(data, shape)) {}
  MatmulShape shape;
  Fill fill;
  MatmulData data;
  MatmulReference reference;
};

VirtualRun run_virtually(const Instance& instance, const LaunchOrder& order,
                         const VerifiedProblem& problem, const TraceBuffer& trace,
                         const vgpu::Options& options);

}  // namespace tw
