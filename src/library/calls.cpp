#include "src/library/calls.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "src/library/checks.h"
#include "src/library/copier.h"
#include "src/library/described.h"
#include "src/library/log.h"
#include "src/library/tuning.h"
#include "vgpu/machine/machine.h"

namespace tw::library {

namespace {

bool is_whole(const Family& family, const void* problem) {
  return stated_size(problem) == family.description->size;
}

Checked checked_problem(const Family& family, const void* problem) {
  check_size("problem", problem, stated_size(problem), family.description->size,
             fmt::format("tw_{}_init", family.name()).c_str());
  return checked(*family.description, problem);
}

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

// The problem as the chosen kernel takes it. Before there is memory for copies they have an address
// that nobody reads.
class Stated : public Rewritten {
 public:
  Stated(const Family& family, const Checked& problem, const Choice& choice,
         std::byte* memory = reinterpret_cast<std::byte*>(alignment))
      : Rewritten(problem) {
    if (choice.rewritten != 0) family.rewrite(*this, choice, memory);
  }
};

std::string command(const Stated& stated, const Choice& choice, const char* on) {
  std::string line = command_of(stated.stated(), choice, on);
  const auto copies = stated.copies();
  if (copies.empty()) return line;
  return line + (copies.size() == 1 ? fmt::format("  # behind a copy of {}", copies[0].title)
                                    : fmt::format("  # behind copies of {} and {}", copies[0].title,
                                                  copies[1].title));
}

// A call, up to the launch.
struct Prepared {
  Prepared(const Family& family, const void* given, const tw_options* given_options)
      : family(&family),
        problem(checked_problem(family, given)),
        options(checked_options(given_options)),
        instance(index_of(family, options.instance)) {}

  void decide_on(const void* given, const Device& device) {
    // Lives as long as the process: threads may still call while it ends.
    static auto& recent = *new Recent;
    key = ProblemKey(*family, given, options, instance, device);
    if (recent.find(decision, key)) return;
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
    recent.store(decision, key);
  }

  const Family* family;
  Checked problem;
  tw_options options;
  std::int64_t instance;
  ProblemKey key;
  Decision decision;

 private:
  void log_call(const Stated& stated, const Device& device) {
    const bool is_own = &stated.stated().description() == family->description;
    const std::string call = is_own && family->call != nullptr ? family->call(stated.stated())
                                                               : call_of(stated.stated());
    const char* const on = device.gpu != nullptr ? "gpu" : "virtual";
    log_line(call.empty() ? command(stated, decision.choice, on) : call_prefix + call);
  }
  void ask_workspace(const Stated& stated) {
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
};

// A call that this thread makes again is neither checked nor decided again; where its addresses
// are others, aligned alike, it is asked whether they overlap, and nothing else.
struct Repeated {
  using Word = std::uint64_t;
  std::vector<Word> given;  // what `prepared` is about
  tw_options options;       // without names: who gives one is prepared anew
  std::int64_t instance = 0;
  Device device;
  std::optional<Prepared> prepared;

  static Word word_at(const void* problem, std::size_t index) {
    Word word;
    std::memcpy(&word, static_cast<const std::byte*>(problem) + index * sizeof word, sizeof word);
    return word;
  }
  static Word alignment(Word address) {
    return static_cast<Word>(alignment_word(reinterpret_cast<void*>(address)));
  }

  // Calls that differ in addresses alone share an entry where these are aligned alike.
  static Repeated& of(const Family& family, const void* problem) {
    constexpr std::size_t entries = 128;
    constexpr Word spread = 0x9E3779B97F4A7C15ull;
    thread_local const auto all = std::make_unique<Repeated[]>(entries);
    const std::size_t words = family.description->size / sizeof(Word);
    Word sum = 0;
    for (std::size_t i = 0; i < words; ++i) sum += word_at(problem, i) * (2 * i + spread);
    for (const std::size_t i : addresses_of(family)) {
      const Word address = word_at(problem, i);
      sum += (alignment(address) - address) * (2 * i + spread);
    }
    return all[(sum ^ sum >> 32) % entries];
  }
  // Whether this has been prepared, at the addresses that it now has.
  bool is(const Family& family, const void* other, const tw_options& asked,
          std::int64_t asked_instance, const Device& at) {
    return prepared.has_value() && prepared->family == &family &&
           std::memcmp(&options, &asked, sizeof options) == 0 && instance == asked_instance &&
           device == at &&
           (std::memcmp(given.data(), other, family.description->size) == 0 ||
            moves_to(family, other));
  }
  // Whether addresses are all that differs; then they are taken. Throws where they overlap.
  bool moves_to(const Family& family, const void* other) {
    scratch = given;
    for (const std::size_t i : addresses_of(family)) {
      const Word theirs = word_at(other, i);
      if (alignment(scratch[i]) != alignment(theirs)) return false;
      scratch[i] = theirs;
    }
    if (std::memcmp(scratch.data(), other, family.description->size) != 0) return false;
    std::memcpy(given.data(), other, family.description->size);
    try {
      prepared->problem.move_to(given.data());
      check_apart(prepared->problem);
    } catch (...) {
      prepared.reset();
      throw;
    }
    return true;
  }
  // Prepares the call in place of what was here, up to the decision.
  Prepared& take(const Family& family, const void* other, const tw_options* asked,
                 const Device& at) {
    prepared.reset();
    given.resize(family.description->size / sizeof(Word));
    std::memcpy(given.data(), other, family.description->size);
    prepared.emplace(family, given.data(), asked);
    options = prepared->options;
    instance = prepared->instance;
    device = at;
    return *prepared;
  }

 private:
  std::vector<Word> scratch;
};

// No device, but a virtual one.
Device virtual_device(const char* target) {
  return {.target = checked_target(target), .sms = vgpu::Options{}.sm_count};
}

// What is wrong with a problem or its options is said before what is wrong with the device.
Device device_for(const Gpu& gpu, const Family& family, const void* problem,
                  const tw_options* options) {
  try {
    return gpu.current();
  } catch (const Failure&) {
    static_cast<void>(Prepared(family, problem, options));
    throw;
  }
}

// The call of this thread, until its next.
const Prepared& prepare_for_gpu(const Family& family, const void* problem,
                                const tw_options* options) {
  if (!is_whole(family, problem)) checked_problem(family, problem);  // throws
  const bool usual = options == nullptr;
  const bool is_sound = usual || options->size == sizeof(tw_options);
  const Gpu& gpu = gpu_for(usual || !is_sound ? nullptr : options->target);
  const Device device = device_for(gpu, family, problem, options);
  Repeated& repeated = Repeated::of(family, problem);
  // A name is what its letters say, not where they lie.
  const bool may_repeat =
      is_sound && (usual || (options->instance == nullptr && options->target == nullptr));
  if (may_repeat && repeated.is(family, problem, usual ? usual_options() : *options, 0, device)) {
    return *repeated.prepared;
  }
  Prepared& prepared = repeated.take(family, problem, options, device);
  try {
    prepared.decide_on(repeated.given.data(), device);
  } catch (...) {
    repeated.prepared.reset();
    throw;
  }
  return prepared;
}

// Makes copies in `memory` by copy(to, from), then calls run with what the kernel takes, until one
// is refused.
template <class Copy, class Run>
Status behind_copies(const Family& family, const Checked& problem, const Choice& choice,
                     std::byte* memory, const Copy& copy, const Run& run) {
  const Stated placed(family, problem, choice, memory);
  for (const Rewritten::Copy& one : placed.copies()) {
    if (const Status copied = copy(one.to, one.from); !copied.is_good()) return copied;
  }
  return run(placed.stated());
}

// Copies lie at the end of the workspace.
Status launch_stated(const Family& family, const Checked& problem, const Choice& choice,
                     const Stated& stated, const Workspace& workspace, void* stream) {
  if (stated.copies().empty()) return launch_kernel(stated.stated(), choice, workspace, stream);
  const std::size_t before =
      (workspace.bytes - stated.copied_bytes()) / Stated::alignment * Stated::alignment;
  return behind_copies(
      family, problem, choice, static_cast<std::byte*>(workspace.data) + before,
      [&](const TensorLines& to, const TensorLines& from) {
        return copier()->launch(to, from, choice.target, stream);
      },
      [&](const Checked& placed) {
        return launch_kernel(placed, choice, {workspace.data, before, workspace.other_counters},
                             stream);
      });
}

void launch(const Family& family, const Checked& problem, const Decision& decision,
            const tw_options& options, const Workspace& workspace, void* stream) {
  check_workspace(workspace.data, workspace.bytes, decision.workspace_bytes);
  const Stated stated(family, problem, decision.choice);
  if (logs_calls()) log_line(command(stated, decision.choice, "gpu"));
  Workspace ready = workspace;
  if (options.workspace_is_ready == 0) {
    make_counters(ready, *decision.gpu, decision.kernel_bytes, stream);
  }
  const Status launched = launch_stated(family, problem, decision.choice, stated, ready, stream);
  if (!launched.is_good()) throw Failure{TW_CUDA, launched.sentence()};
}

}  // namespace

Choice decide(const Family& family, const Checked& problem, const DispatchRequest& request) {
  if (family.decide != nullptr) return family.decide(problem, request);
  if (family.dispatcher.choose != nullptr) {
    return chosen(problem, request, family.dispatcher.choose);
  }
  return first_that_serves(problem, family.instances(), request);
}

// Where there is no device, options that name a target say what is asked about.
void supported(const Family& family, const void* problem, const tw_options* options) {
  const bool names_target = options != nullptr && options->size == sizeof(tw_options) &&
                            options->target != nullptr && is_whole(family, problem);
  if (names_target && !gpu_for(options->target).is_there()) {
    Prepared(family, problem, options).decide_on(problem, virtual_device(options->target));
  } else {
    prepare_for_gpu(family, problem, options);
  }
}

std::size_t workspace_size(const Family& family, const void* problem, const tw_options* options) {
  return prepare_for_gpu(family, problem, options).decision.workspace_bytes;
}

void run(const Family& family, const void* problem, const tw_options* options,
         const Workspace& workspace, void* stream) {
  const Prepared& prepared = prepare_for_gpu(family, problem, options);
  launch(family, prepared.problem, prepared.decision, prepared.options, workspace, stream);
}

tw_plan* make_plan(const Family& family, const void* problem, const tw_options* options) {
  const Prepared& prepared = prepare_for_gpu(family, problem, options);
  const Choice& choice = prepared.decision.choice;
  std::string line = command(Stated(family, prepared.problem, choice), choice, "gpu");
  return new tw_plan{prepared.options, prepared.instance, &family,
                     prepared.key,     prepared.decision, std::move(line)};
}

void run_plan(const tw_plan& plan, const void* problem, const Workspace& workspace, void* stream) {
  const Family& family = *plan.family;
  if (!is_whole(family, problem)) checked_problem(family, problem);  // throws
  // The name of the instance may be gone; its number stays.
  tw_options options = plan.options;
  options.instance = nullptr;
  const Device device = device_for(*plan.decision.gpu, family, problem, &options);
  Repeated& repeated = Repeated::of(family, problem);
  if (!repeated.is(family, problem, options, plan.instance, device)) {
    Prepared& prepared = repeated.take(family, problem, &options, device);
    repeated.instance = prepared.instance = plan.instance;
    prepared.key = ProblemKey(family, problem, plan.options, plan.instance, device);
    prepared.decision = plan.decision;
  }
  const Prepared& prepared = *repeated.prepared;
  if (prepared.key != plan.key) {
    const std::string difference = prepared.key.difference(plan.key);
    repeated.prepared.reset();  // another plan may not take it for decided
    throw Failure{TW_INVALID, difference};
  }
  launch(family, prepared.problem, plan.decision, plan.options, workspace, stream);
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
