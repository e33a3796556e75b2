#include "src/bench/harness/forms.h"

#include "tilewright/family/matmul/family.h"

namespace tw::bench {

namespace {

constexpr const char* product_numbers[] = {"m", "n", "k"};
constexpr ElementType product_types[] = {ElementType::Bf16, ElementType::Fp16, ElementType::E4m3,
                                         ElementType::E5m2};

// D = A B^T in bf16 (or fp16) of operands of one type, both K-major.
void state_product(MeasuredCase& made, ElementType type, const CaseRequest& request) {
  made.problem = AnyProblem(plain_product(made, type, request));
}

}  // namespace

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

const ShapeForm matmul_form = {&MatmulFamily::description,
                               product_numbers,
                               {},
                               product_types,
                               {},
                               "matmul",
                               "cublaslt",
                               state_product,
                               true};

std::span<const ShapeForm* const> all_forms() {
  static const ShapeForm* const forms[] = {
      &matmul_form,
      // family blockwise: begin
      &blockwise_form,
      // family blockwise: end
      // family conv2d: begin
      &conv2d_form,
      // family conv2d: end
      // family grouped: begin
      &grouped_form,
      // family grouped: end
      // family quantise: begin
      &quantise_form
      // family quantise: end
  };
  return forms;
}

}  // namespace tw::bench
