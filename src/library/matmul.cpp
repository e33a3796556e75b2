// The functions of tilewright.h.
#include "src/library/around_launch.h"
#include "src/library/convert.h"
#include "src/library/decide.h"
#include "src/library/decision_key.h"
#include "src/library/device.h"
#include "src/library/failure.h"
#include "src/library/log.h"
#include "tilewright.h"
#include "vgpu/machine/machine.h"

#define TW_TEXT_OF(token) #token
#define TW_TEXT(macro) TW_TEXT_OF(macro)

struct tw_matmul_plan {
  tw_matmul_options options;
  const tw::MatmulInstance* named;
  tw::library::Place place;
  tw::library::DecisionKey key;
  tw::library::Decision decision;
  std::string command;
};

namespace tw::library {

namespace {

// A call, up to the launch.
struct Prepared {
  Prepared(const tw_matmul_problem* given, const tw_matmul_options* given_options)
      : converted(convert(given)),
        options(checked_options(given_options)),
        named(named_instance(options)) {}

  void decide_on(const tw_matmul_problem& given, const Place& at) {
    place = at;
    key = DecisionKey(given, options, named, place);
    decision = decide(converted, options, place, key);
  }

  ConvertedProblem converted;
  tw_matmul_options options;
  const MatmulInstance* named;
  Place place;
  DecisionKey key;
  Decision decision;
};

Prepared prepare_for_gpu(const tw_matmul_problem* problem, const tw_matmul_options* options) {
  Prepared prepared(problem, options);
  prepared.decide_on(*problem, current_device());
  return prepared;
}

void launch(ConvertedProblem& converted, const Decision& decision, bool workspace_is_ready,
            void* workspace, std::size_t workspace_bytes, void* stream) {
  check_workspace(workspace, workspace_bytes, decision.workspace_bytes);
  const MatmulProblem& problem = decision.problem(converted);
  if (logs_calls()) log_line(command_of(problem, decision.choice, "gpu"));
  if (!workspace_is_ready) clear_counters(workspace, decision.workspace_bytes, stream);
  const Status launched = decision.choice.instance->launch(
      problem, decision.choice.order, {workspace, workspace_bytes}, {}, stream);
  if (!launched.is_good()) throw Failure{TW_CUDA, launched.sentence()};
}

void simulate(const MatmulProblem& problem, const Choice& choice) {
  check_virtual_gpu(choice.instance->simulate != nullptr);
  if (logs_calls()) log_line(command_of(problem, choice, "virtual"));
  vgpu::Report report;
  const Status status = choice.instance->simulate(problem, choice.order, {}, {}, report);
  if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
  check_report(report);
}

}  // namespace

}  // namespace tw::library

using namespace tw::library;

extern "C" {

const char* tw_message(void) { return message(); }

const char* tw_version(void) {
  return TW_TEXT(TW_VERSION_MAJOR) "." TW_TEXT(TW_VERSION_MINOR) "." TW_TEXT(TW_VERSION_PATCH);
}

void tw_matmul_init(tw_matmul_problem* problem, tw_matmul_options* options) {
  if (problem != nullptr) {
    *problem = {};
    problem->size = sizeof *problem;
    problem->batch = 1;
    problem->epilogue.alpha = 1.0f;
    problem->epilogue.output_scale = 1.0f;
  }
  if (options != nullptr) {
    *options = {};
    options->size = sizeof *options;
    options->fast_accumulation = 1;
    options->workspace_limit = std::size_t{64} << 20;
  }
}

tw_status tw_matmul_supported(const tw_matmul_problem* problem, const tw_matmul_options* options) {
  return guarded([&] { prepare_for_gpu(problem, options); });
}

tw_status tw_matmul_workspace_size(size_t* bytes, const tw_matmul_problem* problem,
                                   const tw_matmul_options* options) {
  return guarded([&] {
    not_null(bytes, "address for the size") = 0;
    *bytes = prepare_for_gpu(problem, options).decision.workspace_bytes;
  });
}

tw_status tw_matmul(const tw_matmul_problem* problem, const tw_matmul_options* options,
                    void* workspace, size_t workspace_bytes, void* stream) {
  return guarded([&] {
    Prepared prepared = prepare_for_gpu(problem, options);
    launch(prepared.converted, prepared.decision, prepared.options.workspace_is_ready != 0,
           workspace, workspace_bytes, stream);
  });
}

tw_status tw_matmul_plan_create(tw_matmul_plan** plan, const tw_matmul_problem* problem,
                                const tw_matmul_options* options) {
  return guarded([&] {
    not_null(plan, "address for the plan") = nullptr;
    Prepared prepared = prepare_for_gpu(problem, options);
    const tw::MatmulProblem& chosen = prepared.decision.problem(prepared.converted);
    *plan = new tw_matmul_plan{
        prepared.options, prepared.named,    prepared.place,
        prepared.key,     prepared.decision, command_of(chosen, prepared.decision.choice, "gpu")};
  });
}

void tw_matmul_plan_destroy(tw_matmul_plan* plan) { delete plan; }

size_t tw_matmul_plan_workspace_size(const tw_matmul_plan* plan) {
  return plan == nullptr ? 0 : plan->decision.workspace_bytes;
}

const char* tw_matmul_plan_command(const tw_matmul_plan* plan) {
  return plan == nullptr ? "" : plan->command.c_str();
}

tw_status tw_matmul_plan_run(const tw_matmul_plan* plan, const tw_matmul_problem* problem,
                             void* workspace, size_t workspace_bytes, void* stream) {
  return guarded([&] {
    const tw_matmul_plan& made = not_null(plan, "plan");
    ConvertedProblem converted = convert(problem);
    const DecisionKey key(*problem, made.options, made.named, current_device());
    if (key != made.key) throw Failure{TW_INVALID, key.difference(made.key)};
    launch(converted, made.decision, made.options.workspace_is_ready != 0, workspace,
           workspace_bytes, stream);
  });
}

tw_status tw_matmul_simulate(const tw_matmul_problem* problem, const tw_matmul_options* options) {
  return guarded([&] {
    Prepared prepared(problem, options);
    Place place;
    place.target = checked_target(prepared.options.target);
    place.sms = tw::vgpu::Options{}.sm_count;
    prepared.decide_on(*problem, place);
    simulate(prepared.decision.problem(prepared.converted), prepared.decision.choice);
  });
}

}  // extern "C"
