// Convolutions, NHWC and KRSC, both sides alike.
#include <fmt/format.h>

#include "src/bench/harness/forms.h"
#include "tilewright/family/conv2d/family.h"

namespace tw::bench {

namespace {

constexpr const char* numbers[] = {"n", "h", "w", "c", "k", "r", "s"};
constexpr ShapeForm::Number others[] = {
    {"stride", 1, 1}, {"pad", 0, 0}, {"dilation", 1, 1}, {"groups", 1, 1}};
constexpr ElementType types[] = {ElementType::Bf16, ElementType::Fp16};

void state(MeasuredCase& made, ElementType type, const CaseRequest&) {
  const std::vector<std::int64_t>& of = made.numbers;
  const std::int64_t stride = of[7], pad = of[8], dilation = of[9];
  auto problem = initial<Conv2dFamily>();
  problem.n = of[0];
  problem.c = of[3];
  problem.k = of[4];
  problem.groups = of[10];
  problem.h = {of[1], of[5], stride, dilation, pad, pad};
  problem.w = {of[2], of[6], stride, dilation, pad, pad};
  problem.depth = {1, 1, 1, 1, 0, 0};
  problem.type = problem.d_type = static_cast<tw_type>(type);
  problem.image = problem.filter = problem.d = some_address();
  // 32x56x56x64 to 64, 3x3; what is not one is said.
  std::string& text = made.shape.text;
  text = fmt::format("{}x{}x{}x{} to {}, {}x{}", of[0], of[1], of[2], of[3], of[4], of[5], of[6]);
  if (stride != 1) text += fmt::format(" /{}", stride);
  if (dilation != 1) text += fmt::format(" *{}", dilation);
  if (problem.groups != 1) text += fmt::format(" in {}", problem.groups);
  made.shape.flops = 2.0 * double(problem.n * outputs_of(problem.h) * outputs_of(problem.w)) *
                     double(problem.k) * double(of[5] * of[6]) * double(of[3] / of[10]);
  made.problem = AnyProblem(problem);
}

}  // namespace

extern const ShapeForm conv2d_form;
const ShapeForm conv2d_form = {
    &Conv2dFamily::description, numbers, others, types, {}, "conv2d", "cudnn", state, true};

}  // namespace tw::bench
