// Products of three numbers.
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

const ShapeForm matmul_form = {&MatmulFamily::description,
                               product_numbers,
                               {},
                               product_types,
                               {},
                               "matmul",
                               "cublaslt",
                               state_product,
                               true};

}  // namespace tw::bench
