// What the functions of tilewright.h ask of a family, written once: `Registered` takes the table of
// its Calls.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "src/dispatch/call.h"
#include "src/dispatch/choose_launch.h"
#include "src/library/around_launch.h"
#include "src/library/families.h"
#include "src/library/log.h"
#include "src/library/problem_key.h"
#include "src/library/recent.h"
#include "src/library/structs.h"
#include "src/library/tuning.h"
#include "vgpu/machine/machine.h"

namespace tw::library {

DispatchRequest request_of(const tw_options& options, const Place& place);

// Calls of one family. A Family has
//   name, instances()
//   description, initialise(given)     all but its size and family
//   dispatcher()                       null where no cost model chooses
//   Given, words(given, visit)         its problem in the C interface, for ProblemKey
//   Problem, convert(given)            what is made of it; what is wrong is thrown
//   addresses(), move(problem, given)  the words that are addresses; and what is made of a problem
//                                      that differs in these alone, aligned as they are
//   Choice, decide(problem, request)   of a kernel and its order
//   stated(problem, choice)            the problem as that kernel takes it
//   command(stated, choice, on)        a line of ./tw run
//   call(stated)                       what tables know it by, where it has that
//   workspace, launch and simulate     of the choice's kernel
//   add_copies(bytes, stated)          where something is copied before, room for it
template <class Family>
struct Calls {
  using Given = typename Family::Given;
  using Problem = typename Family::Problem;
  using Key = ProblemKey<Family>;

  struct Decision {
    typename Family::Choice choice;
    std::size_t workspace_bytes = 0;
    std::size_t kernel_bytes = 0;  // of these, what the kernel itself asks for, counters first
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
      const auto& stated = Family::stated(problem, decision.choice);
      const Status status = Family::workspace(bytes, stated, decision.choice);
      if (!status.is_good()) throw Failure{TW_CUDA, status.sentence()};
      decision.kernel_bytes = bytes;
      if constexpr (requires { Family::add_copies(bytes, stated); }) {
        Family::add_copies(bytes, stated);
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
    Given given;         // what `prepared` is about
    tw_options options;  // without names: who gives one is prepared anew
    std::int64_t instance = 0;
    Place place;
    std::optional<Prepared> prepared;

    static constexpr std::size_t words = sizeof(Given) / sizeof(std::uint64_t);
    static_assert(sizeof(Given) % sizeof(std::uint64_t) == 0);
    using Words = std::array<std::uint64_t, words>;
    static std::uint64_t alignment(std::uint64_t address) {
      return static_cast<std::uint64_t>(alignment_word(reinterpret_cast<void*>(address)));
    }

    // Calls that differ in addresses alone share an entry where these are aligned alike.
    static Repeated& of(const Given& given) {
      constexpr std::size_t entries = 64;
      thread_local const auto all = std::make_unique<Repeated[]>(entries);
      Words bits;
      std::memcpy(bits.data(), &given, sizeof bits);
      for (const std::size_t i : Family::addresses()) bits[i] = alignment(bits[i]);
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < words; ++i) sum += bits[i] * (2 * i + 0x9E3779B97F4A7C15ull);
      return all[(sum ^ sum >> 32) % entries];
    }
    // Whether this has been prepared, at the addresses that it now has.
    bool is(const Given& other, const tw_options& asked, std::int64_t asked_instance,
            const Place& at) {
      return prepared.has_value() && std::memcmp(&options, &asked, sizeof options) == 0 &&
             instance == asked_instance && place.device == at.device && place.target == at.target &&
             place.sms == at.sms && place.name == at.name &&
             (std::memcmp(&given, &other, sizeof given) == 0 || moves_to(other));
    }
    // Whether addresses are all that differs; then they are taken. Throws where they overlap.
    bool moves_to(const Given& other) {
      Words mine, theirs;
      std::memcpy(mine.data(), &given, sizeof mine);
      std::memcpy(theirs.data(), &other, sizeof theirs);
      for (const std::size_t i : Family::addresses()) {
        if (alignment(mine[i]) != alignment(theirs[i])) return false;
        mine[i] = theirs[i];
      }
      if (mine != theirs) return false;
      std::memcpy(&given, &other, sizeof given);
      try {
        Family::move(prepared->problem, given);
      } catch (...) {
        prepared.reset();
        throw;
      }
      return true;
    }
    // Prepares the call in place of what was here, up to the decision.
    Prepared& take(const Given& other, const tw_options* asked, const Place& at) {
      prepared.reset();
      std::memcpy(&given, &other, sizeof given);
      prepared.emplace(&given, asked);
      options = prepared->options;
      instance = prepared->instance;
      place = at;
      return *prepared;
    }
  };

  // Where there is no device, options that name a target say what is asked about.
  static void supported(const void* problem, const tw_options* options) {
    const Given* const given = as_given(problem);
    const bool names_target = options != nullptr && options->size == sizeof(tw_options) &&
                              options->target != nullptr && is_whole(given);
    if (names_target && !has_device()) {
      Prepared(given, options).decide_on(*given, place_of_target(options->target));
    } else {
      prepare_for_gpu(given, options);
    }
  }
  static std::size_t workspace_size(const void* problem, const tw_options* options) {
    return prepare_for_gpu(as_given(problem), options).decision.workspace_bytes;
  }
  static void run(const void* problem, const tw_options* options, const Workspace& workspace,
                  void* stream) {
    const Prepared& prepared = prepare_for_gpu(as_given(problem), options);
    launch(prepared.problem, prepared.decision, prepared.options, workspace, stream);
  }

  static tw_plan* plan(const void* problem, const tw_options* options) {
    const Prepared& prepared = prepare_for_gpu(as_given(problem), options);
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
    const Given* const given = as_given(problem);
    if (!is_whole(given)) Family::convert(given);  // throws
    // The name of the instance may be gone; its number stays.
    tw_options options = made.options;
    options.instance = nullptr;
    const Place place = place_for(given, &options);
    Repeated& repeated = Repeated::of(*given);
    if (!repeated.is(*given, options, made.instance, place)) {
      Prepared& prepared = repeated.take(*given, &options, place);
      repeated.instance = prepared.instance = made.instance;
      prepared.key = Key(*given, made.options, made.instance, place);
      prepared.decision = made.decision;
    }
    const Prepared& prepared = *repeated.prepared;
    if (prepared.key != made.key) {
      const std::string difference = prepared.key.difference(made.key);
      repeated.prepared.reset();  // another plan may not take it for decided
      throw Failure{TW_INVALID, difference};
    }
    launch(prepared.problem, made.decision, made.options, workspace, stream);
  }

  static void simulate(const void* problem, const tw_options* options) {
    Prepared prepared(as_given(problem), options);
    prepared.decide_on(*as_given(problem), place_of_target(prepared.options.target));
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
  static constexpr FamilyCalls table = {
      Family::name, sizeof(Given),  &Family::description, Family::dispatcher(), instance_names,
      initialise,   supported,      workspace_size,       run,                  plan,
      run_plan,     simulate};

 private:
  static const Given* as_given(const void* problem) { return static_cast<const Given*>(problem); }
  static bool has_device() {
    try {
      current_device();
    } catch (const Failure&) {
      return false;
    }
    return true;
  }
  // No device, but a virtual one.
  static Place place_of_target(const char* target) {
    Place place;
    place.target = checked_target(target);
    place.sms = vgpu::Options{}.sm_count;
    return place;
  }
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
  static bool is_whole(const Given* given) {
    return given != nullptr && given->size == sizeof(Given);
  }
  // What is wrong with a problem or its options is said before what is wrong with the device.
  static Place place_for(const Given* problem, const tw_options* options) {
    try {
      return current_device();
    } catch (const Failure&) {
      static_cast<void>(Prepared(problem, options));
      throw;
    }
  }
  // Of this thread, until its next call.
  static const Prepared& prepare_for_gpu(const Given* problem, const tw_options* options) {
    if (!is_whole(problem)) Family::convert(problem);  // throws
    const Place place = place_for(problem, options);
    Repeated& repeated = Repeated::of(*problem);
    const bool usual = options == nullptr;
    // A name is what its letters say, not where they lie.
    const bool may_repeat = usual || (options->size == sizeof(tw_options) &&
                                      options->instance == nullptr && options->target == nullptr);
    if (may_repeat && repeated.is(*problem, usual ? usual_options() : *options, 0, place)) {
      return *repeated.prepared;
    }
    Prepared& prepared = repeated.take(*problem, options, place);
    try {
      prepared.decide_on(repeated.given, place);
    } catch (...) {
      repeated.prepared.reset();
      throw;
    }
    return prepared;
  }
  static void launch(const Problem& problem, const Decision& decision, const tw_options& options,
                     const Workspace& workspace, void* stream) {
    check_workspace(workspace.data, workspace.bytes, decision.workspace_bytes);
    const auto& stated = Family::stated(problem, decision.choice);
    if (logs_calls()) log_line(Family::command(stated, decision.choice, "gpu"));
    Workspace ready = workspace;
    if (options.workspace_is_ready == 0) make_counters(ready, decision.kernel_bytes, stream);
    const Status launched = Family::launch(stated, decision.choice, ready, stream);
    if (!launched.is_good()) throw Failure{TW_CUDA, launched.sentence()};
  }
};

}  // namespace tw::library
