#include "src/bench/conv2d_own.h"

#include <memory>

#include "src/bench/planned.h"

namespace tw::bench {

namespace {

tw_conv2d_axis c_axis(const Conv2dAxis& axis) {
  return {axis.extent, axis.filter, axis.stride, axis.dilation, axis.pad_low, axis.pad_high};
}

tw_conv2d_problem c_problem(const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue, int set) {
  const Conv2dProblem given = buffers.problem(set, epilogue);
  const tw_type type = c_type(given.type);
  tw_conv2d_problem problem;
  tw_conv2d_init(&problem, nullptr);
  problem.n = given.n;
  problem.c = given.c;
  problem.k = given.k;
  problem.groups = given.groups;
  problem.h = c_axis(given.h);
  problem.w = c_axis(given.w);
  problem.image = given.image;
  problem.filter = given.filter;
  problem.d = given.d;
  problem.type = problem.d_type = type;
  if (epilogue.bias) problem.epilogue.column_bias = buffers.bias(set);
  problem.epilogue.bias_type = type;
  if (epilogue.residual) {
    problem.epilogue.beta = 1.0f;
    problem.epilogue.source = {buffers.residual(set), given.k, 1, 0, type};
  }
  if (epilogue.relu) problem.epilogue.activation = TW_RELU;
  return problem;
}

Candidate planned_candidate(const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue) {
  std::vector<tw_conv2d_problem> problems;
  for (int set = 0; set < buffers.sets(); ++set) {
    problems.push_back(c_problem(buffers, epilogue, set));
  }
  return planned(problems);
}

}  // namespace

Candidate candidate_of(const Conv2dChoice& choice, const Conv2dBuffers& buffers,
                       const Conv2dEpilogue& epilogue) {
  std::size_t bytes = 0;  // a refusal comes again, with its sentence, from the launch
  (void)choice.instance->workspace(bytes, buffers.problem(0, epilogue), choice.order);
  const auto memory = std::make_shared<DeviceWorkspace>(bytes);
  return {name_of(choice), [choice, epilogue, &buffers, memory](int set, void* stream) {
            return choice.instance->launch(buffers.problem(set, epilogue), choice.order,
                                           memory->workspace, stream);
          }};
}

Status own_convolutions(std::vector<Candidate>& found, const OwnRequest& request,
                        const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue) {
  found.clear();
  if (request.asks_the_library()) {
    found.push_back(planned_candidate(buffers, epilogue));
    return Status::good();
  }
  const Conv2dProblem problem = buffers.problem(0, epilogue);
  for (const Conv2dChoice& one : request.wanted(candidates(problem, dispatch_request(), nullptr))) {
    found.push_back(candidate_of(one, buffers, epilogue));
  }
  if (!found.empty()) return Status::good();
  return Status::refused("No instance that computes " + buffers.what().text() +
                         " has a name with '" + request.instances + "'.");
}

}  // namespace tw::bench
