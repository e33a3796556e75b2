// Blockwise FP8 products with known answers, and their verified runs on the virtual GPU.
#pragma once

#include "src/blockwise_fp8/instance.h"
#include "src/matmul/virtual.h"

namespace tw {

// What is computed, without the numbers. Scales are row-major with Major::K.
struct BlockwiseShape {
  MatmulShape matmul;
  std::int64_t b_scale_rows = 128;
  Major a_scales = Major::K;
  Major b_scales = Major::K;
  bool unaligned_scales = false;  // lines of scales begin at no multiple of 16 bytes

  bool operator==(const BlockwiseShape&) const = default;
};
BlockwiseShape shape_for(const BlockwiseInstance& instance);

struct BlockwiseData {
  MatmulData matmul;
  HostMatrix a_scales;  // (m,blocks of k)
  HostMatrix b_scales;  // (n or blocks of n,blocks of k)
};

// With Fill::Integers scales are small integers, too: every scaled product and sum is exact.
BlockwiseData make_blockwise_data(const BlockwiseShape& shape, Fill fill, std::uint64_t seed);

// Straight from the definition: shares no code with the kernels.
MatmulReference direct_product(const BlockwiseData& data, const BlockwiseShape& shape);

// `address` tells where a matrix's first element is: in `data` itself, or in a copy on a GPU.
BlockwiseProblem blockwise_at(BlockwiseData& data, const BlockwiseShape& shape,
                              const std::function<void*(HostMatrix&)>& address);
BlockwiseProblem blockwise_on_host(BlockwiseData& data, const BlockwiseShape& shape);

// The answer to one problem, computed once for many schedules.
struct VerifiedBlockwise {
  VerifiedBlockwise(const BlockwiseShape& shape, Fill fill, std::uint64_t seed)
      : shape(shape),
        data(make_blockwise_data(shape, fill, seed)),
        reference(direct_product(data, shape)) {}
  BlockwiseShape shape;
  BlockwiseData data;
  MatmulReference reference;
};

VirtualRun run_virtually(const BlockwiseInstance& instance, const MatmulOrder& order,
                         const VerifiedBlockwise& problem, const vgpu::Options& options);

// The words that repeat a run, but for its schedule: ./tw run blockwise ...
std::string run_line(const BlockwiseInstance& instance, const MatmulOrder& order,
                     const BlockwiseShape& shape, Fill fill, std::uint64_t seed);

}  // namespace tw
