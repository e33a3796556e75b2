// Blockwise FP8 products with a quantised D, their known answers, and their verified runs on the
// virtual GPU.
#pragma once

#include "src/blockwise_fp8/task.h"
#include "src/run/case.h"
#include "tilewright/number/block_scale.h"
#include "src/requantised/instance.h"

namespace tw {

// What is computed, without the numbers.
struct RequantisedShape {
  BlockwiseShape product;
  Major scales = Major::K;  // of D
  BlockScale rule = BlockScale::real;
};
RequantisedShape shape_for(const RequantisedInstance& instance);

struct RequantisedData {
  BlockwiseData product;
  HostMatrix scales;  // of D (m,blocks of n)
};

// Of exact data (not Fill::Normal): D's elements and scales are then known bit by bit.
RequantisedData make_requantised_data(const RequantisedShape& shape, Fill fill, std::uint64_t seed);

// The direct product, quantised on the host.
RequantisedData requantised(RequantisedData data, const RequantisedShape& shape);

// `address` tells where a matrix's first element is: in `data` itself, or in a copy on a GPU.
RequantisedProblem requantised_at(RequantisedData& data, const RequantisedShape& shape,
                                  const std::function<void*(HostMatrix&)>& address);

// Bit by bit.
Comparison compare(const RequantisedData& data, const RequantisedData& expected);

// The answer to one problem, computed once for many schedules.
struct VerifiedRequantised {
  VerifiedRequantised(const RequantisedShape& shape, Fill fill, std::uint64_t seed)
      : shape(shape),
        data(make_requantised_data(shape, fill, seed)),
        expected(requantised(data, shape)) {}
  RequantisedShape shape;
  RequantisedData data;
  RequantisedData expected;
};

VirtualRun run_virtually(const RequantisedInstance& instance, const VerifiedRequantised& problem,
                         const vgpu::Options& options);

// The words that repeat a run, but for its schedule: ./tw run requantised ...
std::string run_line(const RequantisedInstance& instance, const RequantisedShape& shape, Fill fill,
                     std::uint64_t seed);

}  // namespace tw
