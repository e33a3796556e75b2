#include "src/bench/harness/forms.h"

#include "tilewright/family/matmul/family.h"

namespace tw::bench {

tw_matmul_problem plain_product(MeasuredCase& made, ElementType type, const CaseRequest& request) {
  const auto up = [&request](std::int64_t extent) {
    return (extent + request.pitch_align - 1) / request.pitch_align * request.pitch_align;
  };
  auto problem = initial<MatmulFamily>();
  problem.m = made.numbers[0];
  problem.n = made.numbers[1];
  problem.k = made.numbers[2];
  problem.a = rows_of(up(problem.k), type);
  problem.b = columns_of(up(problem.k), type);
  problem.d =
      rows_of(up(problem.n), type == ElementType::Fp16 ? ElementType::Fp16 : ElementType::Bf16);
  problem.b_is_constant = request.b_is_constant;
  made.shape.is_decode = problem.m <= 64;
  return problem;
}

}  // namespace tw::bench
