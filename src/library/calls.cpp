#include "src/library/calls.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "src/library/checks.h"
#include "src/library/command.h"
#include "src/library/copier.h"
#include "src/library/described.h"
#include "src/library/environment.h"
#include "vgpu/machine/machine.h"

namespace tw::library {

namespace {

std::int64_t index_of(const Family& family, const char* instance) {
  if (instance == nullptr) return 0;
  std::int64_t index = 0;
  for (const Instance& one : family.instances()) {
    ++index;
    if (std::strcmp(one.name, instance) == 0) return index;
  }
  throw Failure{
      TW_INVALID,
      fmt::format("There is no instance '{}' of {}; ./tw list shows those that there are.",
                  instance, family.name())};
}

}  // namespace

Checked checked_problem(const Family& family, const void* problem) {
  check_size("problem", problem, stated_size(problem), family.description->size,
             fmt::format("tw_{}_init", family.name()).c_str());
  return checked(*family.description, problem);
}

Stated::Stated(const Family& family, const Checked& problem, const Choice& choice,
               std::byte* memory)
    : Rewritten(problem) {
  if (choice.rewritten != 0) family.rewrite(*this, choice, memory);
}

Prepared::Prepared(const Family& family, const void* given, const tw_options* given_options)
    : family(&family),
      problem(checked_problem(family, given)),
      options(checked_options(given_options)),
      instance(index_of(family, options.instance)) {}

void Prepared::decide_on(const void* given, const Device& device) {
  key = ProblemKey(*family, given, options, instance, device);
  if (find_recent(decision, key)) return;
  std::optional<LoadsWhileCapturing> loads;
  if (device.gpu != nullptr) loads.emplace(*device.gpu);
  const DispatchRequest request = request_of(options, device);
  if (request.own_table != nullptr) {
    check_instances(*request.own_table, family->name(), family->instances());
  }
  decision = {};
  decision.gpu = device.gpu;
  decision.choice = decide(*family, problem, request);
  const Stated stated(*family, problem, decision.choice);
  if (device.gpu != nullptr) ask_workspace(stated);
  if (logs_distinct_calls()) log_call(stated, device);
  remember(decision, key);
}

void Prepared::log_call(const Stated& stated, const Device& device) {
  const bool is_own = &stated.stated().description() == family->description;
  const std::string call =
      is_own && family->call != nullptr ? family->call(stated.stated()) : call_of(stated.stated());
  const char* const on = device.gpu != nullptr ? "gpu" : "virtual";
  log_line(call.empty() ? command(stated, decision.choice, on) : call_prefix + call);
}

void Prepared::ask_workspace(const Stated& stated) {
  std::size_t& bytes = decision.workspace_bytes;
  const Status status = ask_workspace_of(bytes, stated.stated(), decision.choice);
  if (!status.is_good()) throw Failure{TW_CUDA, status.sentence()};
  decision.kernel_bytes = bytes;
  // Copies lie behind the counters, which stay zero.
  if (stated.copied_bytes() != 0) {
    bytes = round_up(std::max(bytes, workspace_counter_bytes), Stated::alignment) +
            stated.copied_bytes();
  }
  if (bytes > options.workspace_limit) {
    throw Failure{TW_UNSUPPORTED,
                  fmt::format("The kernel {} needs a workspace of {} bytes, but "
                              "workspace_limit is {}.",
                              decision.choice.instance->name, bytes, options.workspace_limit)};
  }
}

Device virtual_device(const char* target) {
  return {.target = checked_target(target), .sms = vgpu::Options{}.sm_count};
}

Status behind_copies(const Family& family, const Checked& problem, const Choice& choice,
                     std::byte* memory, const Copy& copy, const Run& run) {
  const Stated placed(family, problem, choice, memory);
  for (const Rewritten::Copy& one : placed.copies()) {
    if (const Status copied = copy(one.to, one.from); !copied.is_good()) return copied;
  }
  return run(placed.stated());
}

Choice decide(const Family& family, const Checked& problem, const DispatchRequest& request) {
  if (family.decide != nullptr) return family.decide(problem, request);
  if (family.dispatcher.choose != nullptr) {
    return chosen(problem, request, family.dispatcher.choose);
  }
  return first_that_serves(problem, family.instances(), request);
}

void simulate(const Family& family, const void* problem, const tw_options* options) {
  Prepared prepared(family, problem, options);
  prepared.decide_on(problem, virtual_device(prepared.options.target));
  const Choice& choice = prepared.decision.choice;
  check_virtual_gpu(choice.instance->simulate != nullptr);
  const Stated stated(family, prepared.problem, choice);
  if (logs_calls()) log_line(command(stated, choice, "virtual"));
  vgpu::Report report;
  std::vector<std::byte> memory(stated.copied_bytes() + Stated::alignment);
  const auto beyond = reinterpret_cast<std::uintptr_t>(memory.data()) % Stated::alignment;
  const Status status = behind_copies(
      family, prepared.problem, choice, memory.data() + Stated::alignment - beyond,
      [&](const TensorLines& to, const TensorLines& from) {
        const Status copied = copier()->simulate(to, from, choice.target, report);
        if (copied.is_good()) check_report(report);
        return copied;
      },
      [&](const Checked& placed) {
        return choice.instance->simulate(placed, {choice.order}, {}, report);
      });
  if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
  check_report(report);
}

}  // namespace tw::library
