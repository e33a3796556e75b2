// bf16 to e4m3 with scales of rows or of blocks.
#include "src/bench/harness/forms.h"
#include "tilewright/family/quantise/family.h"

namespace tw::bench {

namespace {

constexpr const char* numbers[] = {"m", "k"};
constexpr ShapeForm::Number others[] = {{"scale_rows", 1, 1}};
constexpr ElementType types[] = {ElementType::Bf16};
constexpr const char* usual[] = {"8192x8192",   "8192x8192,128",   "4096x7168", "4096x7168,128",
                                 "16384x16384", "16384x16384,128", "64x7168",   "64x7168,128"};

void state(MeasuredCase& made, ElementType type, const CaseRequest& request) {
  auto problem = initial<QuantiseFamily>();
  problem.m = made.numbers[0];
  problem.k = made.numbers[1];
  problem.scale_rows = made.numbers[2];
  problem.source = rows_of(problem.k, type);
  problem.elements = rows_of(problem.k, ElementType::E4m3);
  problem.scales = request.column_scales
                       ? columns_of(QuantiseFamily::scale_lines(problem), ElementType::Fp32)
                       : rows_of(QuantiseFamily::k_blocks(problem), ElementType::Fp32);
  made.problem = AnyProblem(problem);
}

}  // namespace

extern const ShapeForm quantise_form;
const ShapeForm quantise_form = {
    &QuantiseFamily::description, numbers, others, types, usual, "quantise", "copy", state};

}  // namespace tw::bench
