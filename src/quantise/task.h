// Verified runs of the quantiser on the virtual GPU.
#pragma once

#include "src/matmul/virtual.h"
#include "src/quantise/data.h"
#include "src/quantise/instance.h"

namespace tw {

// The answer to one problem, computed once for many schedules.
struct VerifiedQuantise {
  VerifiedQuantise(const QuantiseShape& shape, Fill fill, std::uint64_t seed)
      : shape(shape),
        data(make_quantise_data(shape, fill, seed)),
        expected(quantised(data, shape)) {}
  QuantiseShape shape;
  QuantiseData data;
  QuantiseData expected;
};

VirtualRun run_virtually(const QuantiseInstance& instance, const VerifiedQuantise& problem,
                         const vgpu::Options& options);

// The words that repeat a run, but for its schedule: ./tw run quantise ...
std::string run_line(const QuantiseInstance& instance, const QuantiseShape& shape, Fill fill,
                     std::uint64_t seed);

}  // namespace tw
