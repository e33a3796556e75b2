// Calls that launch, and what makes those cheap that a thread makes again.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "src/library/apart.h"
#include "src/library/calls.h"
#include "src/library/checks.h"
#include "src/library/command.h"
#include "src/library/copier.h"
#include "src/library/described.h"
#include "src/library/environment.h"

namespace tw::library {

namespace {

bool is_whole(const Family& family, const void* problem) {
  return stated_size(problem) == family.description->size;
}

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

// The call of a plan, until this thread's next.
const Prepared& prepare_for_plan(const tw_plan& plan, const void* problem) {
  const Family& family = *plan.family;
  if (const Family& given = family_of(problem); &given != &family) {
    throw Failure{TW_INVALID, fmt::format("The problem is one of {}, but the plan was made for "
                                          "one of {}.",
                                          given.name(), family.name())};
  }
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
  return prepared;
}

}  // namespace

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

void check_plan(const tw_plan& plan, const void* problem) {
  static_cast<void>(prepare_for_plan(plan, problem));
}

void run_plan(const tw_plan& plan, const void* problem, const Workspace& workspace, void* stream) {
  const Prepared& prepared = prepare_for_plan(plan, problem);
  launch(*plan.family, prepared.problem, plan.decision, plan.options, workspace, stream);
}

}  // namespace tw::library
