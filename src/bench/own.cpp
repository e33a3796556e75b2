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

tw_type c_type(ElementType type) {
  switch (type) {
    case ElementType::Fp16: return TW_FP16;
    case ElementType::E4m3: return TW_E4M3;
    case ElementType::E5m2: return TW_E5M2;
    default: return TW_BF16;
  }
}

tw_matmul_problem c_problem(const MatmulBuffers& buffers, int set) {
  const MatmulProblem given = buffers.problem(set);
  tw_matmul_problem problem;
  tw_matmul_init(&problem, nullptr);
  problem.m = given.m;
  problem.n = given.n;
  problem.k = given.k;
  problem.a = {const_cast<void*>(given.a.data), given.a.pitch, 1, 0, c_type(given.a.type)};
  problem.b = {const_cast<void*>(given.b.data), 1, given.b.pitch, 0, c_type(given.b.type)};
  problem.d = {given.d.data, given.d.pitch, 1, 0, c_type(given.d.type)};
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
  (void)choice.instance->workspace(bytes, buffers.problem(0), choice.order);
  const auto memory = std::make_shared<DeviceWorkspace>(bytes);
  return {name_of(choice), [choice, &buffers, memory](int set, void* stream) {
            return choice.instance->launch(buffers.problem(set), choice.order, memory->workspace,
                                           TraceBuffer{}, stream);
          }};
}

Status own_candidates(std::vector<Candidate>& candidates, const OwnRequest& request,
                      const MatmulBuffers& buffers) {
  candidates.clear();
  if (request.asks_the_library()) {
    candidates.push_back(planned_candidate(buffers));
    return Status::good();
  }
  const MatmulProblem problem = buffers.problem(0);
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
