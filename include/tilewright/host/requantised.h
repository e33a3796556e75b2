// Blockwise FP8 with a quantised D, as a caller states it, what it must satisfy, and its plan.
#pragma once

#include "tilewright/family/requantised.h"
#include "tilewright/host/blockwise_fp8.h"

namespace tw {

// D is e4m3. Its scales are (m,n / 128, rounded up) float32 of each batch: as the scales of the A
// that it is for the next product.
struct RequantisedProblem {
  BlockwiseProblem product;
  float* scales = nullptr;
  std::int64_t pitch = 0;
  std::int64_t batch_pitch = 0;
  Major major = Major::K;
  BlockScale rule = BlockScale::real;

  std::int64_t blocks() const { return (product.matmul.n + 127) / 128; }
};

inline Status check(const RequantisedProblem& problem, unsigned b_scale_rows) {
  const MatmulProblem& matmul = problem.product.matmul;
  if (Status status = check(problem.product, b_scale_rows); !status.is_good()) return status;
  if (matmul.d.type != ElementType::E4m3) {
    return Status::refused(std::string("D has type ") + name_of(matmul.d.type) +
                           ", but what is quantised again is e4m3.");
  }
  if (matmul.epilogue.gated) {
    return Status::refused(
        "The epilogue has a gate, but a block of 128 columns of D would then be spread over two "
        "tiles: quantise apart.");
  }
  if (matmul.epilogue.output_scale != 1.0f) {
    return Status::refused("output_scale is " + std::to_string(matmul.epilogue.output_scale) +
                           ", but must be 1: the scales of D are made from its values.");
  }
  if (std::min({matmul.m, matmul.n, matmul.batch}) == 0) return Status::good();
  const bool by_k = problem.major == Major::K;
  const std::int64_t lines = by_k ? matmul.m : problem.blocks();
  const std::int64_t length = by_k ? problem.blocks() : matmul.m;
  Status status =
      detail::check_matrix("the scales of D", problem.scales, lines, length, problem.pitch,
                           matmul.batch, problem.batch_pitch, ElementType::Fp32);
  if (!status.is_good()) return status;
  return detail::check_output("the scales of D", lines, problem.pitch, length, matmul.batch,
                              problem.batch_pitch);
}

template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const RequantisedProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  const bool by_k = problem.major == Major::K;
  params.epilogue.epilogue.scales = {problem.scales, by_k ? problem.pitch : 1,
                                     by_k ? 1 : problem.pitch, problem.batch_pitch, problem.rule};
  return plan<Parts>(params, grid, problem.product, order, max_clusters, workspace, encode);
}

}  // namespace tw
