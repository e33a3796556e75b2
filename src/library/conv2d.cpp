// The functions of tilewright.h that convolve.
#include "src/dispatch/conv2d.h"

#include <cstring>
#include <optional>

#include "src/conv2d/task.h"
#include "src/library/around_launch.h"
#include "src/library/conv2d_key.h"
#include "src/library/convert.h"
#include "src/library/decide.h"
#include "src/library/log.h"
#include "src/library/recent.h"
#include "tilewright/host/conv2d_check.h"

namespace tw::library {

namespace {

struct Conv2dDecision {
  Conv2dChoice choice;
  std::size_t workspace_bytes = 0;
};

Conv2dAxis axis_of(const tw_conv2d_axis& given) {
  return {given.extent, given.filter, given.stride, given.dilation, given.pad_low, given.pad_high};
}

void check_good(const Status& status) {
  if (!status.is_good()) throw Failure{TW_INVALID, status.sentence()};
}

Conv2dProblem convert(const tw_conv2d_problem* given) {
  check_struct("problem", given, "tw_conv2d_init");
  const auto direction = static_cast<unsigned>(given->direction);
  if (direction > TW_BACKWARD_FILTER) {
    throw Failure{TW_INVALID,
                  fmt::format("The direction is {}, but a tw_direction is between 0 and {}.",
                              direction, static_cast<int>(TW_BACKWARD_FILTER))};
  }
  Conv2dProblem problem;
  problem.n = given->n;
  problem.c = given->c;
  problem.k = given->k;
  problem.groups = given->groups;
  problem.h = axis_of(given->h);
  problem.w = axis_of(given->w);
  problem.depth = axis_of(given->depth);
  problem.direction = static_cast<Conv2dDirection>(direction);
  problem.image = given->image;
  problem.filter = given->filter;
  problem.d = given->d;
  problem.type = type_of("the image", given->type);
  problem.d_type = type_of("D", given->d_type);
  // Extents first: those of the epilogue follow from them.
  check_good(check(problem));
  const MatmulProblem output = output_of(problem);
  problem.epilogue = epilogue_of(given->epilogue, output.m, output.n, 1);
  check_good(check(problem));
  if (output.m == 0 || output.n == 0) return problem;
  for (const auto& [name, memory] :
       {std::pair("the image", problem.image), std::pair("the filter", problem.filter)}) {
    if (memory != problem.d) continue;
    throw Failure{TW_INVALID,
                  fmt::format("D begins where {} does, but must have memory of its own.", name)};
  }
  return problem;
}

Conv2dShape shape_of(const Conv2dProblem& problem) {
  Conv2dShape shape;
  shape.n = problem.n;
  shape.c = problem.c;
  shape.k = problem.k;
  shape.groups = problem.groups;
  shape.h = problem.h;
  shape.w = problem.w;
  shape.depth = problem.depth;
  shape.direction = problem.direction;
  shape.type = problem.type;
  shape.d_type = problem.d_type;
  shape.epilogue.column_bias = problem.epilogue.column_bias != nullptr;
  shape.epilogue.activation = problem.epilogue.activation;
  shape.epilogue.beta = problem.epilogue.source == nullptr ? 0.0f : problem.epilogue.beta;
  return shape;
}

std::string command_of(const Conv2dProblem& problem, const Conv2dChoice& choice) {
  return run_line(*choice.instance, shape_of(problem), Fill::Integers, 1, choice.order);
}

int index_of(const char* instance) {
  if (instance == nullptr) return 0;
  const auto instances = conv2d_instances();
  for (std::size_t i = 0; i < instances.size(); ++i) {
    if (std::strcmp(instances[i].name, instance) == 0) return static_cast<int>(i + 1);
  }
  throw Failure{TW_INVALID,
                fmt::format("There is no instance '{}' of conv2d; ./tw list shows those that "
                            "there are.",
                            instance)};
}

// A call, up to the launch.
struct Prepared {
  Prepared(const tw_conv2d_problem* given, const tw_conv2d_options* given_options)
      : problem(convert(given)), options(checked_options(given_options)) {}

  void decide_on(const Place& place) {
    static auto& recent = *new Recent<Conv2dKey, Conv2dDecision>;
    key = Conv2dKey(problem, options, index_of(options.instance), place);
    if (recent.find(decision, key)) return;
    std::optional<LoadsWhileCapturing> loads;
    if (place.device >= 0) loads.emplace();
    std::vector<Conv2dRejection> rejections;
    const Status status = choose(decision.choice, problem, request_of(options, place), &rejections);
    if (logs_dispatch()) {
      for (const Conv2dRejection& rejection : rejections) {
        log_line(fmt::format("tw:   not {}: {}", rejection.instance->name, rejection.sentence));
      }
    }
    if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
    const Conv2dChoice& choice = decision.choice;
    if (logs_dispatch()) {
      log_line(
          fmt::format("tw:   {}: {:.1f} us expected", choice.instance->name, choice.microseconds));
    }
    if (place.device >= 0) {
      const Status asked =
          choice.instance->workspace(decision.workspace_bytes, problem, choice.order);
      if (!asked.is_good()) throw Failure{TW_CUDA, asked.sentence()};
    }
    recent.store(decision, key);
  }

  Conv2dProblem problem;
  tw_conv2d_options options;
  Conv2dKey key;
  Conv2dDecision decision;
};

Prepared prepare_for_gpu(const tw_conv2d_problem* problem, const tw_conv2d_options* options) {
  Prepared prepared(problem, options);
  prepared.decide_on(current_device());
  return prepared;
}

void launch(const Conv2dProblem& problem, const Conv2dDecision& decision, bool workspace_is_ready,
            void* workspace, std::size_t workspace_bytes, void* stream) {
  check_workspace(workspace, workspace_bytes, decision.workspace_bytes);
  if (logs_calls()) log_line(command_of(problem, decision.choice));
  if (!workspace_is_ready) clear_counters(workspace, decision.workspace_bytes, stream);
  const Status launched = decision.choice.instance->launch(problem, decision.choice.order,
                                                           {workspace, workspace_bytes}, stream);
  if (!launched.is_good()) throw Failure{TW_CUDA, launched.sentence()};
}

}  // namespace

}  // namespace tw::library

using namespace tw::library;

struct tw_conv2d_plan {
  tw_conv2d_options options;
  int instance;
  Conv2dKey key;
  Conv2dDecision decision;
  std::string command;
};

extern "C" {

void tw_conv2d_init(tw_conv2d_problem* problem, tw_conv2d_options* options) {
  tw_matmul_init(nullptr, options);
  if (problem == nullptr) return;
  *problem = {};
  problem->size = sizeof *problem;
  problem->n = problem->groups = 1;
  problem->h = problem->w = problem->depth = {1, 1, 1, 1, 0, 0};
  problem->epilogue.alpha = 1.0f;
  problem->epilogue.output_scale = 1.0f;
}

tw_status tw_conv2d_supported(const tw_conv2d_problem* problem, const tw_conv2d_options* options) {
  return guarded([&] { prepare_for_gpu(problem, options); });
}

tw_status tw_conv2d_workspace_size(size_t* bytes, const tw_conv2d_problem* problem,
                                   const tw_conv2d_options* options) {
  return guarded([&] {
    not_null(bytes, "address for the size") = 0;
    *bytes = prepare_for_gpu(problem, options).decision.workspace_bytes;
  });
}

tw_status tw_conv2d(const tw_conv2d_problem* problem, const tw_conv2d_options* options,
                    void* workspace, size_t workspace_bytes, void* stream) {
  return guarded([&] {
    const Prepared prepared = prepare_for_gpu(problem, options);
    launch(prepared.problem, prepared.decision, prepared.options.workspace_is_ready != 0, workspace,
           workspace_bytes, stream);
  });
}

tw_status tw_conv2d_plan_create(tw_conv2d_plan** plan, const tw_conv2d_problem* problem,
                                const tw_conv2d_options* options) {
  return guarded([&] {
    not_null(plan, "address for the plan") = nullptr;
    const Prepared prepared = prepare_for_gpu(problem, options);
    *plan = new tw_conv2d_plan{prepared.options, index_of(prepared.options.instance), prepared.key,
                               prepared.decision,
                               command_of(prepared.problem, prepared.decision.choice)};
  });
}

void tw_conv2d_plan_destroy(tw_conv2d_plan* plan) { delete plan; }

size_t tw_conv2d_plan_workspace_size(const tw_conv2d_plan* plan) {
  return plan == nullptr ? 0 : plan->decision.workspace_bytes;
}

const char* tw_conv2d_plan_command(const tw_conv2d_plan* plan) {
  return plan == nullptr ? "" : plan->command.c_str();
}

tw_status tw_conv2d_plan_run(const tw_conv2d_plan* plan, const tw_conv2d_problem* problem,
                             void* workspace, size_t workspace_bytes, void* stream) {
  return guarded([&] {
    const tw_conv2d_plan& made = not_null(plan, "plan");
    const tw::Conv2dProblem converted = convert(problem);
    const Conv2dKey key(converted, made.options, made.instance, current_device());
    if (key != made.key) throw Failure{TW_INVALID, key.difference(made.key)};
    launch(converted, made.decision, made.options.workspace_is_ready != 0, workspace,
           workspace_bytes, stream);
  });
}

tw_status tw_conv2d_simulate(const tw_conv2d_problem* problem, const tw_conv2d_options* options) {
  return guarded([&] {
    Prepared prepared(problem, options);
    Place place;
    place.target = checked_target(prepared.options.target);
    place.sms = tw::vgpu::Options{}.sm_count;
    prepared.decide_on(place);
    const tw::Conv2dChoice& choice = prepared.decision.choice;
    check_virtual_gpu(choice.instance->simulate != nullptr);
    if (logs_calls()) log_line(command_of(prepared.problem, choice));
    tw::vgpu::Report report;
    const tw::Status status = choice.instance->simulate(prepared.problem, choice.order, {}, report);
    if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
    check_report(report);
  });
}

}  // extern "C"
