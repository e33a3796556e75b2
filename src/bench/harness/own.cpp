#include "src/bench/harness/own.h"

#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "src/dispatch/dispatcher.h"
#include "src/library/device.h"
#include "src/library/families.h"
#include "src/verify/trials.h"
#include "tilewright.h"
#include "tilewright/launch/targets.h"

namespace tw {

namespace bench {

namespace {

// How a family's launches are found; null where it has no cost model.
const Dispatcher* dispatcher_of(const char* family) {
  const Dispatcher& known = library::family_named(family).dispatcher;
  return known.candidates == nullptr ? nullptr : &known;
}

// Whether a name contains one of the comma-separated parts, or they say all.
bool is_wanted(const std::string& filter, const std::string& name) {
  std::stringstream parts(filter);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part == "all" || name.find(part) != std::string::npos) return true;
  }
  return filter.empty();
}

// The word behind an option of a plan's command.
std::string option_in(const std::string& command, const std::string& option) {
  const std::size_t at = command.find(" " + option + " ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + option.size() + 2;
  return command.substr(begin, command.find(' ', begin) - begin);
}

// The launch in a command that repeats a plan's, named like name_of names a Choice.
std::string name_in_command(const std::string& command) {
  std::string name = option_in(command, "--instance");
  const std::string parts = option_in(command, "--split-k");
  const std::string group = option_in(command, "--group");
  if (!parts.empty() && parts != "1") name += " /" + parts;
  if (!group.empty()) name += (option_in(command, "--raster") == "n" ? " n" : " m") + group;
  return name;
}

// One plan, run on each set's problem; a refusal is a measurement that did not run.
Candidate planned(const Buffers& buffers, bool with_epilogue) {
  tw_options options;
  tw_matmul_init(nullptr, &options);
  options.workspace_is_ready = 1;
  tw_plan* made = nullptr;
  if (tw_plan_create(&made, buffers.problem(0, with_epilogue).data(), &options) != TW_OK) {
    const Status status = Status::refused(tw_message());
    return {"tilewright", [status](int, void*) { return status; }};
  }
  const std::shared_ptr<tw_plan> plan(made, tw_plan_destroy);
  const auto memory = std::make_shared<DeviceWorkspace>(tw_plan_workspace_size(made));
  return {name_in_command(tw_plan_command(made)),
          [plan, memory, &buffers, with_epilogue](int set, void* stream) {
            const Workspace& workspace = memory->workspace;
            const tw_status status =
                tw_plan_run(plan.get(), buffers.problem(set, with_epilogue).data(), workspace.data,
                            workspace.bytes, stream);
            return status == TW_OK ? Status::good() : Status::refused(tw_message());
          }};
}

}  // namespace

DispatchRequest dispatch_request() {
  const library::Device device = library::gpu_for(nullptr).current();
  DispatchRequest request;
  request.target = device.target;
  request.sms = device.sms;
  request.cycles_per_us = device.cycles_per_us;
  request.bytes_per_us = device.bytes_per_us;
  request.device = device.name;
  return request;
}

std::vector<Choice> launches_of(const Checked& problem, const DispatchRequest& request) {
  const Description& description = problem.description();
  if (const Dispatcher* const known = dispatcher_of(description.name)) {
    return known->candidates(problem, request, nullptr);
  }
  std::vector<Choice> found;
  for (const Trial* trial : all_trials()) {
    if (trial->description != &description) continue;
    for (const Instance& instance : trial->instances()) {
      if (!runs_on(instance.target, request.target, instance.capability_end)) continue;
      if (instance.supports(problem, {}).is_good()) found.push_back({&instance, {}});
    }
  }
  return found;
}

Status choose_for(Choice& choice, const Checked& problem, const DispatchRequest& request) {
  const char* const family = problem.description().name;
  const Dispatcher* const known = dispatcher_of(family);
  if (known != nullptr) return known->choose(choice, problem, request, nullptr);
  return Status::refused(fmt::format("{} is chosen by no cost model.", family));
}

std::vector<Choice> with_groups(const std::vector<Choice>& launches,
                                const std::vector<int>& groups) {
  std::vector<Choice> all;
  for (const Choice& launch : launches) {
    for (const int group : groups) {
      for (const Raster raster : {Raster::AlongM, Raster::AlongN}) {
        all.push_back(launch);
        all.back().order.group = group;
        all.back().order.raster = raster;
      }
    }
  }
  return all;
}

std::string name_of(const Choice& choice) {
  std::string name = choice.instance->name;
  const LaunchOrder& order = choice.order;
  if (order.split_k > 1) name += " /" + std::to_string(order.split_k);
  if (order.group != 0) {
    name += (order.raster == Raster::AlongM ? " m" : " n") + std::to_string(order.group);
  }
  return name;
}

Candidate candidate_of(const Choice& choice, const Buffers& buffers, bool with_epilogue) {
  std::size_t bytes = 0;  // a refusal comes again, with its sentence, from the launch
  (void)choice.instance->workspace(bytes, buffers.checked(0, with_epilogue), {choice.order});
  const auto memory = std::make_shared<DeviceWorkspace>(bytes);
  return {name_of(choice), [choice, &buffers, memory, with_epilogue](int set, void* stream) {
            return choice.instance->launch(buffers.checked(set, with_epilogue),
                                           {choice.order, memory->workspace, {}}, stream);
          }};
}

Status own_candidates(std::vector<Candidate>& found, const OwnRequest& request,
                      const Buffers& buffers, bool with_epilogue) {
  found.clear();
  if (request.asks_the_library()) {
    found.push_back(planned(buffers, with_epilogue));
    return Status::good();
  }
  const Checked& problem = buffers.checked(0, with_epilogue);
  DispatchRequest dispatch = dispatch_request();
  dispatch.by_table = request.by_table;
  if (request.names_none()) {
    Choice choice;
    const Status status = choose_for(choice, problem, dispatch);
    if (status.is_good()) found.push_back(candidate_of(choice, buffers, with_epilogue));
    return status;
  }
  std::vector<Choice> wanted;
  for (const Choice& one : launches_of(problem, dispatch)) {
    const bool is_named = request.instance.empty() || request.instance == one.instance->name;
    if (is_named && is_wanted(request.instances, one.instance->name)) wanted.push_back(one);
  }
  if (request.candidates > 0) {
    wanted = shortlist(wanted, static_cast<std::size_t>(request.candidates));
  }
  if (!request.groups.empty()) wanted = with_groups(wanted, request.groups);
  for (const Choice& one : wanted) found.push_back(candidate_of(one, buffers, with_epilogue));
  if (!found.empty()) return Status::good();
  return Status::refused(fmt::format("No instance that computes {} has a name with '{}'.",
                                     buffers.what().shape.text,
                                     request.instance + request.instances));
}

}  // namespace bench
}  // namespace tw
