// The functions that every family has in tilewright.h, written once.
#pragma once

#include <cstring>
#include <optional>
#include <vector>

#include "src/dispatch/call.h"
#include "src/dispatch/choose_launch.h"
#include "src/library/around_launch.h"
#include "src/library/convert.h"
#include "src/library/log.h"
#include "src/library/problem_key.h"
#include "src/library/recent.h"
#include "src/library/tuning.h"
#include "vgpu/machine/machine.h"

namespace tw::library {

DispatchRequest request_of(const tw_matmul_options& options, const Place& place);

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
//   Given, words(given, visit)         its problem in the C interface, for ProblemKey
//   Problem, convert(given)            what is made of it; what is wrong is thrown
//   Choice, decide(problem, request)   of a kernel and its order
//   stated(problem, choice)            the problem as that kernel takes it
//   command(stated, choice, on)        a line of ./tw run
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

  struct Plan {
    tw_matmul_options options;
    std::int64_t instance;
    Key key;
    Decision decision;
    std::string command;
  };

  // A call, up to the launch.
  struct Prepared {
    Prepared(const Given* given, const tw_matmul_options* given_options)
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
    tw_matmul_options options;
    std::int64_t instance;
    Key key;
    Decision decision;

   private:
    void log_call(const Place& place) {
      const auto& stated = Family::stated(problem, decision.choice);
      std::string call;  // by what tables know it; empty: not at all
      if constexpr (requires { call_of(stated); }) call = call_of(stated);
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

  static tw_status supported(const Given* problem, const tw_matmul_options* options) {
    return guarded([&] { prepare_for_gpu(problem, options); });
  }
  static tw_status workspace_size(size_t* bytes, const Given* problem,
                                  const tw_matmul_options* options) {
    return guarded([&] {
      not_null(bytes, "address for the size") = 0;
      *bytes = prepare_for_gpu(problem, options).decision.workspace_bytes;
    });
  }
  static tw_status run(const Given* problem, const tw_matmul_options* options, void* workspace,
                       size_t bytes, void* stream) {
    return guarded([&] {
      Prepared prepared = prepare_for_gpu(problem, options);
      launch(prepared.problem, prepared.decision, prepared.options, {workspace, bytes}, stream);
    });
  }

  // `CPlan` is the opaque struct of the C interface.
  template <class CPlan>
  static tw_status plan_create(CPlan** plan, const Given* problem,
                               const tw_matmul_options* options) {
    return guarded([&] {
      not_null(plan, "address for the plan") = nullptr;
      Prepared prepared = prepare_for_gpu(problem, options);
      const auto& choice = prepared.decision.choice;
      *plan = new CPlan{{prepared.options, prepared.instance, prepared.key, prepared.decision,
                         Family::command(Family::stated(prepared.problem, choice), choice, "gpu")}};
    });
  }
  static size_t plan_workspace_size(const Plan* plan) {
    return plan == nullptr ? 0 : plan->decision.workspace_bytes;
  }
  static const char* plan_command(const Plan* plan) {
    return plan == nullptr ? "" : plan->command.c_str();
  }
  static tw_status plan_run(const Plan* plan, const Given* problem, void* workspace, size_t bytes,
                            void* stream) {
    return guarded([&] {
      const Plan& made = not_null(plan, "plan");
      Problem converted = Family::convert(problem);
      const Key key(*problem, made.options, made.instance, current_device());
      if (key != made.key) throw Failure{TW_INVALID, key.difference(made.key)};
      launch(converted, made.decision, made.options, {workspace, bytes}, stream);
    });
  }

  static tw_status simulate(const Given* problem, const tw_matmul_options* options) {
    return guarded([&] {
      Prepared prepared(problem, options);
      Place place;
      place.target = checked_target(prepared.options.target);
      place.sms = vgpu::Options{}.sm_count;
      prepared.decide_on(*problem, place);
      const auto& choice = prepared.decision.choice;
      check_virtual_gpu(choice.instance->simulate != nullptr);
      const auto& stated = Family::stated(prepared.problem, choice);
      if (logs_calls()) log_line(Family::command(stated, choice, "virtual"));
      vgpu::Report report;
      const Status status = Family::simulate(stated, choice, report);
      if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
      check_report(report);
    });
  }

 private:
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
  static Prepared prepare_for_gpu(const Given* problem, const tw_matmul_options* options) {
    Prepared prepared(problem, options);
    prepared.decide_on(*problem, current_device());
    return prepared;
  }
  static void launch(Problem& problem, const Decision& decision, const tw_matmul_options& options,
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

// Defines tw_FAMILY, tw_FAMILY_supported and the other functions but tw_FAMILY_init, which
// tilewright.h declares, by Calls: they differ by their names alone.
#define TW_DEFINE_CALLS(FAMILY, CALLS)                                                          \
  struct tw_##FAMILY##_plan : CALLS::Plan {};                                                   \
  extern "C" {                                                                                  \
  tw_status tw_##FAMILY##_supported(const tw_##FAMILY##_problem* problem,                       \
                                    const tw_matmul_options* options) {                         \
    return CALLS::supported(problem, options);                                                  \
  }                                                                                             \
  tw_status tw_##FAMILY##_workspace_size(size_t* bytes, const tw_##FAMILY##_problem* problem,   \
                                         const tw_matmul_options* options) {                    \
    return CALLS::workspace_size(bytes, problem, options);                                      \
  }                                                                                             \
  tw_status tw_##FAMILY(const tw_##FAMILY##_problem* problem, const tw_matmul_options* options, \
                        void* workspace, size_t workspace_bytes, void* stream) {                \
    return CALLS::run(problem, options, workspace, workspace_bytes, stream);                    \
  }                                                                                             \
  tw_status tw_##FAMILY##_plan_create(tw_##FAMILY##_plan** plan,                                \
                                      const tw_##FAMILY##_problem* problem,                     \
                                      const tw_matmul_options* options) {                       \
    return CALLS::plan_create(plan, problem, options);                                          \
  }                                                                                             \
  void tw_##FAMILY##_plan_destroy(tw_##FAMILY##_plan* plan) { delete plan; }                    \
  size_t tw_##FAMILY##_plan_workspace_size(const tw_##FAMILY##_plan* plan) {                    \
    return CALLS::plan_workspace_size(plan);                                                    \
  }                                                                                             \
  const char* tw_##FAMILY##_plan_command(const tw_##FAMILY##_plan* plan) {                      \
    return CALLS::plan_command(plan);                                                           \
  }                                                                                             \
  tw_status tw_##FAMILY##_plan_run(const tw_##FAMILY##_plan* plan,                              \
                                   const tw_##FAMILY##_problem* problem, void* workspace,       \
                                   size_t workspace_bytes, void* stream) {                      \
    return CALLS::plan_run(plan, problem, workspace, workspace_bytes, stream);                  \
  }                                                                                             \
  tw_status tw_##FAMILY##_simulate(const tw_##FAMILY##_problem* problem,                        \
                                   const tw_matmul_options* options) {                          \
    return CALLS::simulate(problem, options);                                                   \
  }                                                                                             \
  }
