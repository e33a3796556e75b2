// The functions of tilewright.h for FP8 with scales of blocks.
#include "src/dispatch/blockwise.h"

#include "src/blockwise_fp8/task.h"
#include "src/library/calls.h"

namespace tw::library {

namespace {

constexpr std::pair<const char*, tw_scales tw_blockwise_problem::*> both_scales[] = {
    {"the scales of A", &tw_blockwise_problem::a_scales},
    {"the scales of B", &tw_blockwise_problem::b_scales}};

ScaleTensor scales_of(const std::string& name, const tw_scales& given, std::int64_t batch) {
  const bool by_k = given.k_blocks <= 1 || given.k_stride == 1;
  if (!by_k && given.rows > 1 && given.row_stride != 1) {
    throw Failure{TW_INVALID,
                  fmt::format("The {} have a row_stride of {} and a k_stride of {}, but one of "
                              "them must be 1.",
                              name, given.row_stride, given.k_stride)};
  }
  const std::int64_t lines = by_k ? given.rows : given.k_blocks;
  const std::int64_t length = by_k ? given.k_blocks : given.rows;
  ScaleTensor scales;
  scales.tensor = {given.data, lines > 1 ? (by_k ? given.row_stride : given.k_stride) : length,
                   batch > 1 ? given.batch_stride : 0, type_of(("the " + name).c_str(), given.type),
                   by_k ? Major::K : Major::MN};
  check_span(("The memory of the " + name).c_str(), lines, scales.tensor.pitch, batch,
             scales.tensor.batch_pitch);
  scales.rows = given.rows;
  scales.k_blocks = given.k_blocks;
  return scales;
}

BlockwiseProblem converted(const tw_blockwise_problem* given) {
  check_struct("problem", given, "tw_blockwise_init");
  const ConvertedProblem product = convert(&given->matmul);
  BlockwiseProblem problem = {product.problem,
                              scales_of("scales of A", given->a_scales, given->matmul.batch),
                              scales_of("scales of B", given->b_scales, given->matmul.batch)};
  // Kernels read along k alone.
  if (problem.matmul.a.major == Major::MN && product.other_a) problem.matmul.a = *product.other_a;
  if (problem.matmul.b.major == Major::MN && product.other_b) problem.matmul.b = *product.other_b;
  const Status status = check(problem);
  if (!status.is_good()) throw Failure{TW_INVALID, status.sentence()};
  return problem;
}

struct BlockwiseFamily : KernelFamily<BlockwiseProblem, BlockwiseInstance> {
  static constexpr const char* name = "blockwise";
  static auto instances() { return blockwise_instances(); }
  using Given = tw_blockwise_problem;
  template <class Visit>
  static constexpr void words(const Given& given, const Visit& visit) {
    matmul_words(given.matmul, visit);
    for (const auto& [name, member] : both_scales) {
      const tw_scales& scales = given.*member;
      visit("The number of rows", name, scales.rows);
      visit("The number of blocks", name, scales.k_blocks);
      visit("The row_stride", name, scales.row_stride);
      visit("The k_stride", name, scales.k_stride);
      visit("The batch_stride", name, scales.batch_stride);
      visit("The alignment", name, alignment_word(scales.data));
    }
  }
  static Problem convert(const Given* given) { return converted(given); }
  static Choice decide(const Problem& problem, const DispatchRequest& request) {
    return choose_or_throw(title_of(problem.matmul) + " with scales of blocks", problem, request);
  }
  static std::string command(const Problem& problem, const Choice& choice, const char*) {
    BlockwiseShape shape;
    shape.matmul = shape_of(problem.matmul);
    shape.b_scale_rows = choice.instance->b_scale_rows;
    shape.a_scales = problem.a_scales.tensor.major;
    shape.b_scales = problem.b_scales.tensor.major;
    return run_line(*choice.instance, choice.order, shape, Fill::Integers, 1);
  }
};

using Blockwises = Calls<BlockwiseFamily>;

}  // namespace

}  // namespace tw::library

TW_DEFINE_CALLS(blockwise, tw::library::Blockwises)

extern "C" void tw_blockwise_init(tw_blockwise_problem* problem, tw_blockwise_options* options) {
  tw_matmul_init(nullptr, options);
  if (problem == nullptr) return;
  *problem = {};
  problem->size = sizeof *problem;
  tw_matmul_init(&problem->matmul, nullptr);
  problem->a_scales.type = problem->b_scales.type = TW_FP32;
}
