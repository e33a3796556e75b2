// What the functions of tilewright.h ask of a family, written once: `Registered` takes the table of
// its Calls.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "src/dispatch/call.h"
#include "src/dispatch/choose_launch.h"
#include "src/library/around_launch.h"
#include "src/library/convert.h"
#include "src/library/families.h"
#include "src/library/log.h"
#include "src/library/problem_key.h"
#include "src/library/recent.h"
#include "src/library/tuning.h"
#include "vgpu/machine/machine.h"

namespace tw::library {

DispatchRequest request_of(const tw_options& options, const Place& place);

// What most Families share: problems are the kernels', and kernels need nothing beside the order.
template <class KernelProblem, class Instance>
struct KernelFamily {
  using Problem = KernelProblem;
  using Choice = LaunchChoice<Instance>;
  // What the dispatcher says.
  static Choice choose_or_throw(const std::string& title, const Problem& problem,
                                const DispatchRequest& request) {
    Choice choice;
    std::vector<LaunchRejection<Instance>> rejections;
    const Status status = choose(choice, problem, request, &rejections);
    log_dispatch(title, rejections, status, choice);
    if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
    return choice;
  }
  static const Problem& stated(const Problem& problem, const Choice&) { return problem; }
  static Status workspace(std::size_t& bytes, const Problem& problem, const Choice& choice) {
    return choice.instance->workspace(bytes, problem, choice.order);
  }
  static Status launch(const Problem& problem, const Choice& choice, const Workspace& workspace,
                       void* stream) {
    return choice.instance->launch(problem, choice.order, workspace, stream);
  }
  static Status simulate(const Problem& problem, const Choice& choice, vgpu::Report& report) {
    return choice.instance->simulate(problem, choice.order, {}, report);
  }
};

// Calls of one family. A Family has
//   name, instances()
//   initialise(given)                  all but its size and family; and a description, or none
//   Given, words(given, visit)         its problem in the C interface, for ProblemKey
//   Problem, convert(given)            what is made of it; what is wrong is thrown
//   Choice, decide(problem, request)   of a kernel and its order
//   stated(problem, choice)            the problem as that kernel takes it
//   command(stated, choice, on)        a line of ./tw run
//   call(stated)                       what tables know it by, where it has that
//   workspace, launch and simulate     of the choice's kernel
template <class Family>
struct Calls {
  using Given = typename Family::Given;
  using Problem = typename Family::Problem;
  using Key = ProblemKey<Family>;

  struct Decision {
    typename Family::Choice choice;
    std::size_t workspace_bytes = 0;
  };

  struct Plan : tw_plan {
    Plan(const tw_options& options, std::int64_t instance, const Key& key, const Decision& decision)
        : options(options), instance(instance), key(key), decision(decision) {}
    tw_options options;
    std::int64_t instance;
    Key key;
    Decision decision;
  };

  // A call, up to the launch.
  struct Prepared {
    Prepared(const Given* given, const tw_options* given_options)
        : problem(Family::convert(given)),
          options(checked_options(given_options)),
          instance(index_of(options.instance)) {}

    void decide_on(const Given& given, const Place& place) {
      // Lives as long as the process: threads may still call while it ends.
      static auto& recent = *new Recent<Key, Decision>;
      key = Key(given, options, instance, place);
      if (recent.find(decision, key)) return;
      std::optional<LoadsWhileCapturing> loads;
      if (place.device >= 0) loads.emplace();
      const DispatchRequest request = request_of(options, place);
      if (request.own_table != nullptr) {
        check_instances(*request.own_table, Family::name, Family::instances());
      }
      decision.choice = Family::decide(problem, request);
      if (place.device >= 0) ask_workspace();
      if (logs_distinct_calls()) log_call(place);
      recent.store(decision, key);
    }

    Problem problem;
    tw_options options;
    std::int64_t instance;
    Key key;
    Decision decision;

   private:
    void log_call(const Place& place) {
      const auto& stated = Family::stated(problem, decision.choice);
      std::string call;  // by what tables know it; empty: not at all
      if constexpr (requires { Family::call(stated); }) {
        call = Family::call(stated);
      } else if constexpr (requires { call_of(stated); }) {
        call = call_of(stated);
      }
      const char* const on = place.device >= 0 ? "gpu" : "virtual";
      log_line(call.empty() ? Family::command(stated, decision.choice, on) : call_prefix + call);
    }
    void ask_workspace() {
      std::size_t& bytes = decision.workspace_bytes;
      const Status status =
          Family::workspace(bytes, Family::stated(problem, decision.choice), decision.choice);
      if (!status.is_good()) throw Failure{TW_CUDA, status.sentence()};
      if (bytes > options.workspace_limit) {
        throw Failure{TW_UNSUPPORTED,
                      fmt::format("The kernel {} needs a workspace of {} bytes, but "
                                  "workspace_limit is {}.",
                                  decision.choice.instance->name, bytes, options.workspace_limit)};
      }
    }
  };

  static void supported(const void* problem, const tw_options* options) {
    prepare_for_gpu(as_given(problem), options);
  }
  static std::size_t workspace_size(const void* problem, const tw_options* options) {
    return prepare_for_gpu(as_given(problem), options).decision.workspace_bytes;
  }
  static void run(const void* problem, const tw_options* options, const Workspace& workspace,
                  void* stream) {
    Prepared prepared = prepare_for_gpu(as_given(problem), options);
    launch(prepared.problem, prepared.decision, prepared.options, workspace, stream);
  }

  static tw_plan* plan(const void* problem, const tw_options* options) {
    Prepared prepared = prepare_for_gpu(as_given(problem), options);
    const auto& choice = prepared.decision.choice;
    auto plan = std::make_unique<Plan>(prepared.options, prepared.instance, prepared.key,
                                       prepared.decision);
    plan->family = &table;
    plan->workspace_bytes = prepared.decision.workspace_bytes;
    plan->command = Family::command(Family::stated(prepared.problem, choice), choice, "gpu");
    return plan.release();
  }
  static void run_plan(const tw_plan& plan, const void* problem, const Workspace& workspace,
                       void* stream) {
    const Plan& made = static_cast<const Plan&>(plan);
    Problem converted = Family::convert(as_given(problem));
    const Key key(*as_given(problem), made.options, made.instance, current_device());
    if (key != made.key) throw Failure{TW_INVALID, key.difference(made.key)};
    launch(converted, made.decision, made.options, workspace, stream);
  }

  static void simulate(const void* problem, const tw_options* options) {
    Prepared prepared(as_given(problem), options);
    Place place;
    place.target = checked_target(prepared.options.target);
    place.sms = vgpu::Options{}.sm_count;
    prepared.decide_on(*as_given(problem), place);
    const auto& choice = prepared.decision.choice;
    check_virtual_gpu(choice.instance->simulate != nullptr);
    const auto& stated = Family::stated(prepared.problem, choice);
    if (logs_calls()) log_line(Family::command(stated, choice, "virtual"));
    vgpu::Report report;
    const Status status = Family::simulate(stated, choice, report);
    if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
    check_report(report);
  }

  static void initialise(void* problem) { Family::initialise(*static_cast<Given*>(problem)); }
  static std::vector<std::string> instance_names() {
    std::vector<std::string> names;
    for (const auto& instance : Family::instances()) names.emplace_back(instance.name);
    return names;
  }
  static constexpr const Description* description() {
    if constexpr (requires { Family::description; }) return &Family::description;
    return nullptr;
  }
  static constexpr FamilyCalls table = {Family::name, sizeof(Given), description(),  instance_names,
                                        initialise,   supported,     workspace_size, run,
                                        plan,         run_plan,      simulate};

 private:
  static const Given* as_given(const void* problem) { return static_cast<const Given*>(problem); }
  static std::int64_t index_of(const char* instance) {
    if (instance == nullptr) return 0;
    std::int64_t index = 0;
    for (const auto& one : Family::instances()) {
      ++index;
      if (std::strcmp(one.name, instance) == 0) return index;
    }
    throw Failure{TW_INVALID,
                  fmt::format("There is no instance '{}' of {}; ./tw list shows those that there "
                              "are.",
                              instance, Family::name)};
  }
  static Prepared prepare_for_gpu(const Given* problem, const tw_options* options) {
    Prepared prepared(problem, options);
    prepared.decide_on(*problem, current_device());
    return prepared;
  }
  static void launch(Problem& problem, const Decision& decision, const tw_options& options,
                     const Workspace& workspace, void* stream) {
    check_workspace(workspace.data, workspace.bytes, decision.workspace_bytes);
    const auto& stated = Family::stated(problem, decision.choice);
    if (logs_calls()) log_line(Family::command(stated, decision.choice, "gpu"));
    if (options.workspace_is_ready == 0) {
      clear_counters(workspace.data, decision.workspace_bytes, stream);
    }
    const Status launched = Family::launch(stated, decision.choice, workspace, stream);
    if (!launched.is_good()) throw Failure{TW_CUDA, launched.sentence()};
  }
};

}  // namespace tw::library
