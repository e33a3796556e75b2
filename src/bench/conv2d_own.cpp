#include "src/bench/conv2d_own.h"

#include <memory>

#include "src/bench/planned.h"

namespace tw::bench {

namespace {

Candidate planned_candidate(const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue) {
  std::vector<tw_conv2d_problem> problems;
  for (int set = 0; set < buffers.sets(); ++set) {
    tw_conv2d_problem& problem = problems.emplace_back();
    tw_conv2d_init(&problem, nullptr);
    const std::uint64_t family = problem.family;
    problem = buffers.problem(set, epilogue);
    problem.size = sizeof problem;
    problem.family = family;
  }
  return planned(problems);
}

}  // namespace

Candidate candidate_of(const LaunchChoice<Instance>& choice, const Conv2dBuffers& buffers,
                       const Conv2dEpilogue& epilogue) {
  std::size_t bytes = 0;  // a refusal comes again, with its sentence, from the launch
  (void)choice.instance->workspace(bytes, StatedConv2d(buffers, epilogue).checked(),
                                   {choice.order});
  const auto memory = std::make_shared<DeviceWorkspace>(bytes);
  return {name_of(choice), [choice, epilogue, &buffers, memory](int set, void* stream) {
            return choice.instance->launch(StatedConv2d(buffers, epilogue, set).checked(),
                                           {choice.order, memory->workspace, {}}, stream);
          }};
}

Status own_convolutions(std::vector<Candidate>& found, const OwnRequest& request,
                        const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue) {
  found.clear();
  if (request.asks_the_library()) {
    found.push_back(planned_candidate(buffers, epilogue));
    return Status::good();
  }
  const StatedConv2d problem(buffers, epilogue);
  for (const auto& one : request.wanted(candidates(problem, dispatch_request(), nullptr))) {
    found.push_back(candidate_of(one, buffers, epilogue));
  }
  if (!found.empty()) return Status::good();
  return Status::refused("No instance that computes " + buffers.what().text() +
                         " has a name with '" + request.instances + "'.");
}

}  // namespace tw::bench
