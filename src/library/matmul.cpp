// Products, behind the functions of tilewright.h.
#include "src/library/apart.h"
#include "src/library/calls.h"
#include "src/library/decide.h"
#include "src/library/tuning.h"
#include "src/matmul/task.h"

namespace tw::library {

DispatchRequest request_of(const tw_matmul_options& options, const Place& place) {
  DispatchRequest request;
  request.target = place.target;
  request.sms = place.sms;
  request.device = place.name;
  request.own_table = own_table(place);
  request.batch_invariant = options.batch_invariant != 0;
  request.fast_accumulation = options.fast_accumulation != 0;
  request.instance = options.instance;
  request.workspace_limit = options.workspace_limit;
  return request;
}

namespace {

struct MatmulFamily {
  static constexpr const char* name = "matmul";
  static auto instances() { return matmul_instances(); }
  using Given = tw_matmul_problem;
  static void initialise(Given& problem) {
    problem.batch = 1;
    problem.epilogue.alpha = problem.epilogue.output_scale = 1.0f;
  }
  template <class Visit>
  static constexpr void words(const Given& given, const Visit& visit) {
    matmul_words(given, visit);
  }
  using Problem = ConvertedProblem;
  static Problem convert(const Given* given) {
    const Problem problem = library::convert(given);
    check_apart(problem.problem);
    return problem;
  }
  using Choice = FormChoice;
  static Choice decide(const Problem& problem, const DispatchRequest& request) {
    return cheapest_form(problem, request);
  }
  static const MatmulProblem& stated(Problem& problem, const Choice& choice) {
    return choice.problem(problem);
  }
  static std::string command(const MatmulProblem& problem, const Choice& choice, const char* on) {
    MatmulTask task;
    task.shape = shape_of(problem);
    task.order = choice.order;
    task.instance = choice.instance;
    return run_line(task) + " --on " + on;
  }
  static Status workspace(std::size_t& bytes, const MatmulProblem& problem, const Choice& choice) {
    return choice.instance->workspace(bytes, problem, choice.order);
  }
  static Status launch(const MatmulProblem& problem, const Choice& choice,
                       const Workspace& workspace, void* stream) {
    return choice.instance->launch(problem, choice.order, workspace, {}, stream);
  }
  static Status simulate(const MatmulProblem& problem, const Choice& choice, vgpu::Report& report) {
    return choice.instance->simulate(problem, choice.order, {}, {}, report);
  }
};

const Registered registered_matmul(Calls<MatmulFamily>::table);

}  // namespace

}  // namespace tw::library
