// The functions of tilewright.h for products in groups.
#include "src/dispatch/grouped.h"

#include "src/grouped/task.h"
#include "src/library/apart.h"
#include "src/library/blockwise_scales.h"
#include "src/library/calls.h"

namespace tw::library {

namespace {

GroupedProblem converted(const tw_grouped_problem* given) {
  check_struct("problem", given, "tw_grouped_init");
  const std::int64_t groups = given->matmul.batch;
  // One product with all rows, and as many B as there are groups.
  tw_matmul_problem one = given->matmul;
  one.batch = groups < 0 ? groups : 1;
  if (groups == 0) one.n = 0;  // there is no B, and nothing to compute
  GroupedProblem problem;
  problem.matmul = along_k(convert(&one));
  problem.matmul.batch = groups;
  if (groups > 1) problem.matmul.b.batch_pitch = one.b.batch_stride;
  problem.rows = given->rows;
  problem.capacity = given->capacity;
  problem.row_index = given->row_index;
  if (given->row_index != nullptr) {
    problem.a_rows = given->a_rows;
    if (given->a_rows < 1) problem.a_rows = -1;  // refused as such, as is what 31 bits do not hold
    if (problem.a_rows > 0 && problem.a_rows < std::int64_t{1} << 31) {
      std::optional<MatmulOperand> other;
      take_operand(problem.matmul.a, other, "A", one.a,
                   {given->a_rows, one.k, 1, one.a.row_stride, one.a.column_stride});
      if (problem.matmul.a.major == Major::MN && other) problem.matmul.a = *other;
    }
  }
  Status status = check(problem);
  // family blockwise: begin
  if (given->a_scales.data != nullptr || given->b_scales.data != nullptr) {
    problem.a_scales = scales_of("scales of A", given->a_scales, 1);
    problem.b_scales = scales_of("scales of B", given->b_scales, groups);
    if (status.is_good()) status = check_scales(problem, 0);
  }
  // family blockwise: end
  if (!status.is_good()) throw Failure{TW_INVALID, status.sentence()};
  const MatmulProblem batch = as_batch(problem);
  if (std::min({batch.m, batch.n, groups}) == 0) return problem;
  if (batch.k > 0) check_span("B", batch.n, batch.b.pitch, groups, batch.b.batch_pitch);
  Touched touched;
  add_operands(touched, batch, problem.a_rows);
  touched.reads(vector_of("the groups' rows", problem.rows, ElementType::S32, groups));
  touched.reads(vector_of("the row index", problem.row_index, ElementType::S32, batch.m));
  // family blockwise: begin
  if (batch.k > 0) add_scales(touched, problem.a_scales, problem.b_scales, groups);
  // family blockwise: end
  add_outputs(touched, batch);
  touched.check_apart();
  return problem;
}

struct GroupedFamily : KernelFamily<GroupedProblem, GroupedInstance> {
  static constexpr const char* name = "grouped";
  static auto instances() { return grouped_instances(); }
  using Given = tw_grouped_problem;
  template <class Visit>
  static constexpr void words(const Given& given, const Visit& visit) {
    matmul_words(given.matmul, visit);
    visit("The alignment", "the groups' rows", alignment_word(given.rows));
    visit("The capacity", nullptr, given.capacity);
    visit("The alignment", "the row index", alignment_word(given.row_index));
    visit("The number of A's rows", nullptr, given.a_rows);
    // family blockwise: begin
    scale_words("the scales of A", given.a_scales, visit);
    scale_words("the scales of B", given.b_scales, visit);
    // family blockwise: end
  }
  static Problem convert(const Given* given) { return converted(given); }
  static Choice decide(const Problem& problem, const DispatchRequest& request) {
    return choose_or_throw(title_of(problem.matmul) + " in groups", problem, request);
  }
  static std::string command(const Problem& problem, const Choice& choice, const char*) {
    // A line names at most so many groups; of a hundred million it would have 200 MB.
    constexpr std::int64_t most_named = 64;
    const std::int64_t groups = problem.matmul.batch;
    const bool names_all = groups <= most_named;
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(names_all ? groups : most_named));
    for (std::int32_t& size : sizes) size = static_cast<std::int32_t>(problem.matmul.m / groups);
    GroupedShape shape =
        shape_for(*choice.instance, sizes, names_all && groups > 0 ? problem.matmul.m % groups : 0,
                  problem.capacity);
    shape.matmul.n = problem.matmul.n;
    shape.matmul.k = problem.matmul.k;
    shape.matmul.epilogue = shape_of(problem.matmul).epilogue;
    if (problem.a_rows > 0) shape.a_rows = problem.a_rows;
    // family blockwise: begin
    shape.column_scales = problem.a_scales.tensor.major == Major::MN;
    // family blockwise: end
    const std::string line = run_line(*choice.instance, shape, Fill::Integers, 1);
    if (names_all) return line;
    return line + "  # " + std::to_string(most_named) + " of " + std::to_string(groups) + " groups";
  }
  static Status workspace(std::size_t& bytes, const Problem&, const Choice&) {
    bytes = 0;
    return Status::good();
  }
  static Status launch(const Problem& problem, const Choice& choice, const Workspace&,
                       void* stream) {
    return choice.instance->launch(problem, choice.order, stream);
  }
};

using GroupedCalls = Calls<GroupedFamily>;

}  // namespace

}  // namespace tw::library

TW_DEFINE_CALLS(grouped, tw::library::GroupedCalls)

extern "C" void tw_grouped_init(tw_grouped_problem* problem, tw_grouped_options* options) {
  tw_matmul_init(nullptr, options);
  if (problem == nullptr) return;
  *problem = {};
  problem->size = sizeof *problem;
  tw_matmul_init(&problem->matmul, nullptr);
  // family blockwise: begin
  problem->a_scales.type = problem->b_scales.type = TW_FP32;
  // family blockwise: end
}
