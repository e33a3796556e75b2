#include "src/bench/conv2d_own.h"

#include <memory>

#include "src/bench/buffers.h"
#include "src/bench/own.h"
#include "src/dispatch/conv2d.h"

namespace tw::bench {

namespace {

Candidate candidate_of(const Conv2dChoice& choice, const Conv2dBuffers& buffers,
                       const Conv2dEpilogue& epilogue) {
  std::size_t bytes = 0;  // a refusal comes again, with its sentence, from the launch
  (void)choice.instance->workspace(bytes, buffers.problem(0, epilogue), choice.order);
  const auto memory = std::make_shared<DeviceWorkspace>(bytes);
  std::string name = choice.instance->name;
  if (choice.order.split_k > 1) name += " /" + std::to_string(choice.order.split_k);
  return {name, [choice, epilogue, &buffers, memory](int set, void* stream) {
            return choice.instance->launch(buffers.problem(set, epilogue), choice.order,
                                           memory->workspace, stream);
          }};
}

}  // namespace

Status own_convolutions(std::vector<Candidate>& found, const std::string& instances,
                        const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue) {
  found.clear();
  const Conv2dProblem problem = buffers.problem(0, epilogue);
  const DispatchRequest request = dispatch_request();
  Conv2dChoice choice;
  const Status status = choose(choice, problem, request, nullptr);
  if (!status.is_good()) return status;
  if (instances.empty()) {
    found.push_back(candidate_of(choice, buffers, epilogue));
    return status;
  }
  for (const Conv2dChoice& one : candidates(problem, request, nullptr)) {
    if (!is_wanted(instances, one.instance->name)) continue;
    found.push_back(candidate_of(one, buffers, epilogue));
  }
  if (!found.empty()) return status;
  return Status::refused("No instance that computes " + buffers.what().text() +
                         " has a name with '" + instances + "'.");
}

}  // namespace tw::bench
