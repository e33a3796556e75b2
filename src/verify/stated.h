// A kernels' product as a caller of the C interface states it: for tools and tests that have one.
#pragma once

#include "tilewright/family/matmul/family.h"
#include "tilewright/launch/checked.h"

namespace tw {

inline tw_matmul_problem stated_in_c(const MatmulProblem& given) {
  const auto type = [](ElementType one) { return static_cast<tw_type>(one); };
  const auto lines = [&](const void* data, std::int64_t pitch, std::int64_t batch_pitch,
                         ElementType element, bool by_rows) {
    return tw_matrix{const_cast<void*>(data), by_rows ? pitch : 1, by_rows ? 1 : pitch, batch_pitch,
                     type(element)};
  };
  const MatmulOperand &a = given.a, &b = given.b;
  const EpilogueArguments& epilogue = given.epilogue;
  tw_matmul_problem problem = {};
  problem.size = sizeof problem;
  problem.m = given.m;
  problem.n = given.n;
  problem.k = given.k;
  problem.batch = given.batch;
  problem.b_is_constant = given.b_is_constant ? 1 : 0;
  problem.a = lines(a.data, a.pitch, a.batch_pitch, a.type, a.major == Major::K);
  problem.b = lines(b.data, b.pitch, b.batch_pitch, b.type, b.major == Major::MN);
  problem.d = lines(given.d.data, given.d.pitch, given.d.batch_pitch, given.d.type, true);
  tw_epilogue& to = problem.epilogue;
  to.alpha = epilogue.alpha;
  to.beta = epilogue.beta;
  to.output_scale = epilogue.output_scale;
  to.clamp_low = epilogue.clamp_low;
  to.clamp_high = epilogue.clamp_high;
  to.activation = static_cast<tw_activation>(epilogue.activation);
  to.gated = epilogue.gated ? 1 : 0;
  to.source = lines(epilogue.source, epilogue.source_pitch, epilogue.source_batch_pitch,
                    epilogue.source_type, true);
  to.auxiliary = lines(epilogue.auxiliary, epilogue.auxiliary_pitch, epilogue.auxiliary_batch_pitch,
                       epilogue.auxiliary_type, true);
  to.bias_type = type(epilogue.bias_type);
  to.column_bias = epilogue.column_bias;
  to.row_bias = epilogue.row_bias;
  to.column_scale = epilogue.column_scale;
  to.row_scale = epilogue.row_scale;
  to.amax = reinterpret_cast<float*>(epilogue.amax);
  return problem;
}

// Holds the C problem together with what check() makes of it.
class StatedMatmul {
 public:
  explicit StatedMatmul(const MatmulProblem& given)
      : problem_(stated_in_c(given)),
        status_(check(checked_, MatmulFamily::description, &problem_)) {}
  StatedMatmul(const StatedMatmul&) = delete;
  const Status& status() const { return status_; }
  const Checked& checked() const { return checked_; }

 private:
  tw_matmul_problem problem_;
  Checked checked_;
  Status status_;
};

}  // namespace tw
