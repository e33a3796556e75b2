// FP8 with scales of blocks, behind the functions of tilewright.h.
#include "src/dispatch/blockwise.h"

#include "src/blockwise_fp8/task.h"
#include "src/library/apart.h"
#include "src/library/blockwise_scales.h"
#include "src/library/calls.h"

namespace tw::library {

namespace {

BlockwiseProblem converted(const tw_blockwise_problem* given) {
  check_struct("problem", given, "tw_blockwise_init");
  const BlockwiseProblem problem = {along_k(convert(&given->matmul)),
                                    scales_of("scales of A", given->a_scales, given->matmul.batch),
                                    scales_of("scales of B", given->b_scales, given->matmul.batch)};
  const Status status = check(problem);
  if (!status.is_good()) throw Failure{TW_INVALID, status.sentence()};
  const MatmulProblem& matmul = problem.matmul;
  check_apart(matmul);
  if (std::min({matmul.m, matmul.n, matmul.k, matmul.batch}) == 0) return problem;
  Touched touched;
  add_scales(touched, problem.a_scales, problem.b_scales, matmul.batch);
  add_outputs(touched, matmul);
  touched.check_apart();
  return problem;
}

struct BlockwiseFamily : KernelFamily<BlockwiseProblem, BlockwiseInstance> {
  static constexpr const char* name = "blockwise";
  static auto instances() { return blockwise_instances(); }
  using Given = tw_blockwise_problem;
  static void initialise(Given& problem) {
    tw_matmul_init(&problem.matmul, nullptr);
    problem.a_scales.type = problem.b_scales.type = TW_FP32;
  }
  template <class Visit>
  static constexpr void words(const Given& given, const Visit& visit) {
    matmul_words(given.matmul, visit);
    scale_words("the scales of A", given.a_scales, visit);
    scale_words("the scales of B", given.b_scales, visit);
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

const Registered registered_blockwise(Calls<BlockwiseFamily>::table);

}  // namespace

}  // namespace tw::library
