#include "src/bench/own.h"

#include <memory>
#include <sstream>

#include "src/bench/device.h"
#include "src/bench/planned.h"
#include "src/library/device.h"

namespace tw::bench {

namespace {

Candidate planned_candidate(const MatmulBuffers& buffers) {
  std::vector<tw_matmul_problem> problems;
  for (int set = 0; set < buffers.sets(); ++set) problems.push_back(c_problem(buffers, set));
  return planned(problems);
}

}  // namespace

bool is_wanted(const std::string& filter, const std::string& name) {
  std::stringstream parts(filter);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part == "all" || name.find(part) != std::string::npos) return true;
  }
  return false;
}

tw_matmul_problem c_problem(const MatmulBuffers& buffers, int set) {
  tw_matmul_problem usual, problem = stated_in_c(buffers.problem(set));
  tw_matmul_init(&usual, nullptr);
  problem.family = usual.family;
  return problem;
}

DispatchRequest dispatch_request() {
  const library::Place place = library::current_device();
  DispatchRequest request;
  request.target = place.target;
  request.sms = place.sms;
  request.device = place.name;
  return request;
}

Candidate candidate_of(const Choice& choice, const MatmulBuffers& buffers) {
  std::size_t bytes = 0;  // a refusal comes again, with its sentence, from the launch
  (void)choice.instance->workspace(bytes, buffers.checked(0), {choice.order});
  const auto memory = std::make_shared<DeviceWorkspace>(bytes);
  return {name_of(choice), [choice, &buffers, memory](int set, void* stream) {
            return choice.instance->launch(buffers.checked(set),
                                           {choice.order, memory->workspace, {}}, stream);
          }};
}

Status own_candidates(std::vector<Candidate>& candidates, const OwnRequest& request,
                      const MatmulBuffers& buffers) {
  candidates.clear();
  if (request.asks_the_library()) {
    candidates.push_back(planned_candidate(buffers));
    return Status::good();
  }
  const Checked& problem = buffers.checked(0);
  DispatchRequest dispatch = dispatch_request();
  dispatch.by_table = request.by_table;
  if (request.instances.empty() && request.candidates == 0) {
    Choice choice;
    const Status status = choose(choice, problem, dispatch, nullptr);
    if (status.is_good()) candidates.push_back(candidate_of(choice, buffers));
    return status;
  }
  for (const Choice& choice : request.wanted(tw::candidates(problem, dispatch, nullptr))) {
    if (request.groups.empty()) candidates.push_back(candidate_of(choice, buffers));
    for (const int group : request.groups) {
      for (const Raster raster : {Raster::AlongM, Raster::AlongN}) {
        Choice grouped = choice;
        grouped.order.group = group;
        grouped.order.raster = raster;
        candidates.push_back(candidate_of(grouped, buffers));
      }
    }
  }
  if (!candidates.empty()) return Status::good();
  return Status::refused("No instance that computes " + buffers.what().text() +
                         " has a name with '" + request.instances + "'.");
}

}  // namespace tw::bench
