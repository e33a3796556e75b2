#include "src/bench/own.h"

#include <memory>
#include <sstream>

#include "src/bench/device.h"
#include "src/library/device.h"

namespace tw::bench {

namespace {

tw_type c_type(ElementType type) {
  switch (type) {
    case ElementType::Fp16: return TW_FP16;
    case ElementType::E4m3: return TW_E4M3;
    case ElementType::E5m2: return TW_E5M2;
    default: return TW_BF16;
  }
}

// The word behind an option of a plan's command.
std::string option_of(const std::string& command, const std::string& option) {
  const std::size_t at = command.find(" " + option + " ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + option.size() + 2;
  return command.substr(begin, command.find(' ', begin) - begin);
}

// As name_of says it.
std::string name_of_plan(const tw_matmul_plan* plan) {
  const std::string command = tw_matmul_plan_command(plan);
  std::string name = option_of(command, "--instance");
  const std::string parts = option_of(command, "--split-k");
  const std::string group = option_of(command, "--group");
  if (!parts.empty()) name += " /" + parts;
  if (!group.empty()) name += (option_of(command, "--raster") == "n" ? " n" : " m") + group;
  return name;
}

Status planned_candidate(Candidate& candidate, const MatmulBuffers& buffers) {
  tw_matmul_options options;
  tw_matmul_init(nullptr, &options);
  options.workspace_is_ready = 1;
  std::vector<tw_matmul_problem> problems;
  for (int set = 0; set < buffers.sets(); ++set) problems.push_back(c_problem(buffers, set));
  tw_matmul_plan* made = nullptr;
  if (tw_matmul_plan_create(&made, &problems[0], &options) != TW_OK) {
    return Status::refused(tw_message());
  }
  const std::shared_ptr<tw_matmul_plan> plan(made, tw_matmul_plan_destroy);
  const auto memory = std::make_shared<DeviceWorkspace>(tw_matmul_plan_workspace_size(made));
  candidate = {name_of_plan(made), [plan, memory, problems](int set, void* stream) {
                 const Workspace& workspace = memory->workspace;
                 const tw_status status = tw_matmul_plan_run(
                     plan.get(), &problems[set], workspace.data, workspace.bytes, stream);
                 return status == TW_OK ? Status::good() : Status::refused(tw_message());
               }};
  return Status::good();
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

std::string name_of(const Choice& choice) {
  std::string name = choice.instance->name;
  const MatmulOrder& order = choice.order;
  if (order.split_k > 1) name += " /" + std::to_string(order.split_k);
  if (order.group != 0) {
    name += (order.raster == Raster::AlongM ? " m" : " n") + std::to_string(order.group);
  }
  return name;
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
  if (request.instances.empty() && request.by_table) {
    return planned_candidate(candidates.emplace_back(), buffers);
  }
  const MatmulProblem problem = buffers.problem(0);
  DispatchRequest dispatch = dispatch_request();
  dispatch.by_table = request.by_table;
  if (request.instances.empty()) {
    Choice choice;
    const Status status = choose(choice, problem, dispatch, nullptr);
    if (status.is_good()) candidates.push_back(candidate_of(choice, buffers));
    return status;
  }
  for (const Choice& choice : tw::candidates(problem, dispatch, nullptr)) {
    if (!is_wanted(request.instances, choice.instance->name)) continue;
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
