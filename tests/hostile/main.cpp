// Hostile calls of the C interface, made from what tw_describe says of each family, and compiled
// with the sanitizers. The device is a stand-in, and so are launches. Under the address sanitizer
// kernels of every family are asked by their own `supports`, before a stand-in takes all.
//   ./tw fuzz --interface [--seed S] [--calls N] [--minutes M] [--threads T]
//   ./tw fuzz --interface --seed S --case I            one case, with all that is said
// A case is a problem with up to five fields spoilt, and calls of every function with it, with null
// pointers, workspaces that are too small or misaligned, and plans of other problems. After each
// call the status is one of tw_status, and the message is empty exactly where it is TW_OK.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/hostile/problem.h"
#include "tests/library/stand_in.h"

// Nothing that a caller writes makes the library ask for much memory.
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=1024"; }

namespace tw::hostile {
namespace {

struct Request {
  std::uint64_t seed = 1;
  std::int64_t calls = -1;  // without a number, and without minutes: 20,000
  double minutes = 0;
  unsigned threads = 1;
  std::int64_t only = -1;  // this case
};

std::array<std::atomic<std::int64_t>, TW_FOUND + 1> statuses;
std::atomic<std::int64_t> num_calls, num_cases, num_failures;
bool verbose = false;

alignas(256) unsigned char workspace_memory[1 << 20];

class Case {
 public:
  Case(const std::vector<Family>& families, std::uint64_t seed, std::int64_t index)
      : families_(families), index_(index), random_(seed + static_cast<std::uint64_t>(index)) {}

  void run() {
    const Family& family = families_[static_cast<std::size_t>(
        random_.below(static_cast<std::int64_t>(families_.size())))];
    Problem problem = sound_problem(family, random_);
    const std::int64_t spoilt = random_.of<std::int64_t>({0, 0, 1, 1, 1, 1, 2, 2, 3, 5});
    for (std::int64_t i = 0; i < spoilt; ++i) {
      const Field& field = spoil(problem, random_);
      if (verbose) {
        std::printf("%s.%s = %lld\n", family.name.c_str(), field.path.c_str(),
                    static_cast<long long>(problem.get(field)));
      }
    }
    make_options(family);
    const tw_options* const options = random_.chance(20) ? nullptr : &options_;
    if (random_.chance(5)) with_null_pointers(problem, options);
    if (random_.chance(5)) initialise_wrongly(family);
    with_problem(problem, options);
  }

 private:
  void complain(const char* what, const char* text) {
    ++num_failures;
    std::printf("FAILURE in case %lld: %s: %s\n", static_cast<long long>(index_), what, text);
  }

  // A call, with what holds after every call.
  template <class Call>
  tw_status call(const char* what, const Call& body) {
    const tw_status status = body();
    const char* const message = tw_message();
    ++num_calls;
    if (verbose) std::printf("  %s: %d %s\n", what, static_cast<int>(status), message);
    if (status < TW_OK || status > TW_FOUND) {
      complain(what, "the status is none of tw_status.");
      return status;
    }
    ++statuses[status];
    if (status != TW_OK && *message == 0) complain(what, "it is refused without a sentence.");
    if (status == TW_OK && *message != 0) complain(what, message);
    return status;
  }

  void make_options(const Family& family) {
    call("tw_init", [&] { return tw_init(family.name.c_str(), nullptr, 0, &options_); });
    options_.batch_invariant = random_.chance(20);
    options_.fast_accumulation = !random_.chance(20);
    options_.workspace_is_ready = random_.chance(50);
    if (random_.chance(20) && !family.instances.empty()) {
      const auto count = static_cast<std::int64_t>(family.instances.size());
      options_.instance = family.instances[static_cast<std::size_t>(random_.below(count))].c_str();
    }
    static const std::string odd[] = {"",         " ",
                                      "sm90",     "%s%n%s%n",
                                      "{}",       "{0:99999999}",
                                      "\xff\xfe", std::string(100000, 'a'),
                                      "sm100a\n", "../../etc"};
    const auto any = [&] {
      return odd[random_.below(static_cast<std::int64_t>(std::size(odd)))].c_str();
    };
    if (random_.chance(3)) options_.instance = any();
    if (random_.chance(3)) options_.target = any();
    if (random_.chance(10)) options_.target = random_.of({"sm80", "sm90a", "sm100a"});
    if (random_.chance(3)) options_.size = random_.of<std::size_t>({0, 1, 48, SIZE_MAX});
    if (random_.chance(20)) {
      options_.workspace_limit = random_.of<std::size_t>({0, 1, 65536, 99999, 1 << 30, SIZE_MAX});
    }
    if (random_.chance(5)) options_.batch_invariant = random_.of({INT_MIN, INT_MAX, -1});
  }

  void with_null_pointers(const Problem& problem, const tw_options* options) {
    const auto refused = [&](const char* what, tw_status status) {
      if (status != TW_INVALID) complain(what, "a null pointer is not TW_INVALID.");
    };
    const void* const nothing = nullptr;
    refused("tw_supported",
            call("tw_supported(null)", [&] { return tw_supported(nothing, options); }));
    refused("tw_run",
            call("tw_run(null)", [&] { return tw_run(nothing, options, nullptr, 0, nullptr); }));
    refused("tw_simulate",
            call("tw_simulate(null)", [&] { return tw_simulate(nothing, options); }));
    refused("tw_workspace_size", call("tw_workspace_size(null)", [&] {
              return tw_workspace_size(nullptr, problem.data(), options);
            }));
    refused("tw_plan_create", call("tw_plan_create(null)", [&] {
              return tw_plan_create(nullptr, problem.data(), options);
            }));
    refused("tw_plan_run", call("tw_plan_run(null)", [&] {
              return tw_plan_run(nullptr, problem.data(), nullptr, 0, nullptr);
            }));
    refused("tw_sequence_create", call("tw_sequence_create(null)", [&] {
              return tw_sequence_create(nullptr, &nothing, 1, options);
            }));
    refused("tw_sequence_run", call("tw_sequence_run(null)", [&] {
              return tw_sequence_run(nullptr, &nothing, 1, nullptr, 0, nullptr);
            }));
    refused("tw_sequence_simulate", call("tw_sequence_simulate(null)", [&] {
              return tw_sequence_simulate(&nothing, 1, options);
            }));
    tw_sequence_destroy(nullptr);
    tw_plan_destroy(nullptr);
    if (tw_plan_command(nullptr)[0] != 0 || tw_plan_workspace_size(nullptr) != 0) {
      complain("tw_plan_command", "a null plan has a command or needs a workspace.");
    }
    if (tw_describe("no such family") != nullptr || tw_message()[0] == 0) {
      complain("tw_describe", "a family that is not there is described.");
    }
  }

  // The struct ends where the caller says.
  void initialise_wrongly(const Family& family) {
    const auto bytes = static_cast<std::size_t>(
        random_.of<std::int64_t>({0, 1, 8, 16, static_cast<std::int64_t>(family.bytes) - 8,
                                  static_cast<std::int64_t>(family.bytes) + 8}));
    const auto memory = std::make_unique<char[]>(bytes);
    const char* const name =
        random_.of<const char*>({family.name.c_str(), "", "Matmul", "\xff", nullptr});
    const tw_status status =
        call("tw_init", [&] { return tw_init(name, memory.get(), bytes, nullptr); });
    if (status != TW_INVALID) complain("tw_init", "another size is not TW_INVALID.");
    if (bytes < 16) return;
    call("tw_supported", [&] { return tw_supported(memory.get(), nullptr); });
  }

  void with_problem(const Problem& problem, const tw_options* options) {
    const void* const given = problem.data();
    std::size_t bytes = 7;
    tw_plan* plan = nullptr;
    const tw_status supported = call("tw_supported", [&] { return tw_supported(given, options); });
    const tw_status sized =
        call("tw_workspace_size", [&] { return tw_workspace_size(&bytes, given, options); });
    const tw_status planned =
        call("tw_plan_create", [&] { return tw_plan_create(&plan, given, options); });
    if (supported != sized || supported != planned) {
      complain("tw_supported", "tw_supported, tw_workspace_size and tw_plan_create disagree.");
    }
    if (planned != TW_OK && (plan != nullptr || bytes != 0)) {
      complain("tw_plan_create", "there is a plan, or a size, of what is refused.");
    }
    // Tensors have extents wherever numbers are sound; strides and addresses do not matter.
    std::vector<std::int64_t> extents(3 * problem.family().tensors.size());
    const tw_status told =
        call("tw_extents", [&] { return tw_extents(extents.data(), extents.size() / 3, given); });
    if (supported == TW_OK && told != TW_OK) {
      complain("tw_extents", "what is supported has no extents.");
    }
    const tw_status run = call("tw_run", [&] {
      return tw_run(given, options, workspace_memory, sizeof workspace_memory, nullptr);
    });
    if (run != supported) complain("tw_run", "tw_run and tw_supported disagree.");
    // Without kernels of the virtual GPU what is sound is refused, too.
    const tw_status simulated = call("tw_simulate", [&] { return tw_simulate(given, options); });
    if (simulated == TW_OK) complain("tw_simulate", "there is no virtual GPU here.");
    with_sequence(problem, supported, options);
    if (planned != TW_OK) return;
    with_plan(plan, problem, bytes, options);
    tw_plan_destroy(plan);
  }

  void with_plan(const tw_plan* plan, const Problem& problem, std::size_t bytes,
                 const tw_options* options) {
    if (tw_plan_workspace_size(plan) != bytes) complain("tw_plan_workspace_size", "another size.");
    if (tw_plan_command(plan)[0] == 0) complain("tw_plan_command", "it is empty.");
    const auto run = [&](const Problem& with, void* workspace, std::size_t given) {
      return call("tw_plan_run",
                  [&] { return tw_plan_run(plan, with.data(), workspace, given, nullptr); });
    };
    if (run(problem, workspace_memory, sizeof workspace_memory) != TW_OK) {
      complain("tw_plan_run", "a plan refuses its own problem.");
    }
    if (bytes > 0) {
      const std::int64_t off = random_.from(1, 255);
      if (run(problem, workspace_memory, bytes - 1) != TW_WORKSPACE ||
          run(problem, nullptr, bytes) != TW_WORKSPACE ||
          run(problem, workspace_memory + off, bytes) != TW_WORKSPACE) {
        complain("tw_plan_run", "a workspace that will not do is not TW_WORKSPACE.");
      }
    }
    // What a plan takes, a new plan takes, too.
    Problem other = problem;
    spoil(other, random_);
    if (run(other, workspace_memory, sizeof workspace_memory) == TW_OK &&
        call("tw_supported", [&] { return tw_supported(other.data(), options); }) != TW_OK) {
      complain("tw_plan_run", "a plan takes a problem that is refused by itself.");
    }
    const Family& any = families_[static_cast<std::size_t>(
        random_.below(static_cast<std::int64_t>(families_.size())))];
    const Problem foreign = sound_problem(any, random_);
    if (run(foreign, workspace_memory, sizeof workspace_memory) == TW_OK &&
        any.name != problem.family().name) {
      complain("tw_plan_run", "a plan takes a problem of another family.");
    }
  }

  // Behind a problem of any family, this one is what it is alone.
  void with_sequence(const Problem& problem, tw_status alone, const tw_options* options) {
    const Problem before = sound_problem(families_[static_cast<std::size_t>(random_.below(
                                             static_cast<std::int64_t>(families_.size())))],
                                         random_);
    const bool is_taken = call("tw_supported", [&] {
                            return tw_supported(before.data(), options);
                          }) == TW_OK;
    const void* problems[] = {before.data(), problem.data()};
    tw_sequence* sequence = nullptr;
    const tw_status made = call("tw_sequence_create", [&] {
      return tw_sequence_create(&sequence, problems, 2, options);
    });
    if ((is_taken && made != alone) || (made == TW_OK) != (sequence != nullptr)) {
      complain("tw_sequence_create", "it is not what its problems are.");
    }
    if (made != TW_OK) return;
    const auto run = [&](std::size_t bytes, std::size_t count = 2) {
      return call("tw_sequence_run", [&] {
        return tw_sequence_run(sequence, problems, count, workspace_memory, bytes, nullptr);
      });
    };
    for (const std::size_t count : {std::size_t{0}, std::size_t{3}, SIZE_MAX}) {
      if (run(sizeof workspace_memory, count) != TW_INVALID) {
        complain("tw_sequence_run", "another number of problems is not TW_INVALID.");
      }
    }
    if (run(sizeof workspace_memory) != TW_OK) {
      complain("tw_sequence_run", "a sequence refuses its own problems.");
    }
    const std::size_t bytes = tw_sequence_workspace_size(sequence);
    if (bytes > 0 && run(bytes - 1) != TW_WORKSPACE) {
      complain("tw_sequence_run", "a workspace that will not do is not TW_WORKSPACE.");
    }
    std::swap(problems[0], problems[1]);
    if (run(sizeof workspace_memory) == TW_OK &&
        before.family().name != problem.family().name) {
      complain("tw_sequence_run", "it takes problems of other families.");
    }
    problems[1] = nullptr;
    if (run(sizeof workspace_memory) != TW_INVALID) {
      complain("tw_sequence_run", "a null problem is not TW_INVALID.");
    }
    tw_sequence_destroy(sequence);
  }

  const std::vector<Family>& families_;
  std::int64_t index_;
  Random random_;
  tw_options options_;
};

// One plan of each family, which all threads use at once.
void share_plans(const std::vector<Family>& families, std::uint64_t seed, unsigned threads) {
  for (const Family& family : families) {
    Random random(seed);
    tw_plan* plan = nullptr;
    for (int tries = 0; tries < 1000 && plan == nullptr; ++tries) {
      const Problem problem = sound_problem(family, random);
      if (tw_plan_create(&plan, problem.data(), nullptr) != TW_OK) continue;
      std::vector<std::thread> all;
      for (unsigned i = 0; i < threads; ++i) {
        all.emplace_back([&, i] {
          Random own(seed + i);
          for (int run = 0; run < 20; ++run) {
            Problem mine = problem;
            if (run % 2 == 1) spoil(mine, own);
            const tw_status status =
                tw_plan_run(plan, mine.data(), workspace_memory, sizeof workspace_memory, nullptr);
            if ((status == TW_OK) != (tw_message()[0] == 0)) ++num_failures;
            if (run % 2 == 0 && status != TW_OK) ++num_failures;
            ++num_calls;
          }
        });
      }
      for (std::thread& thread : all) thread.join();
    }
    if (plan == nullptr) {
      ++num_failures;
      std::printf("FAILURE: no problem of %s is sound.\n", family.name.c_str());
    }
    tw_plan_destroy(plan);
  }
}

int run(const Request& request) {
  const std::vector<Family> families = all_families();
  if (request.only >= 0) {
    verbose = true;
    Case(families, request.seed, request.only).run();
    return num_failures == 0 ? 0 : 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  share_plans(families, request.seed, std::max(request.threads, 2u));
  // Threads take neighbouring cases, and every fourth one is the same for all of them: they meet in
  // the library's tables.
  const auto work = [&](unsigned thread) {
    for (std::int64_t i = 0; num_calls < request.calls && seconds() < 60 * request.minutes; ++i) {
      const std::int64_t own = i % 4 == 0 ? 0 : thread;
      Case(families, request.seed, i * request.threads + own).run();
      ++num_cases;
      if (num_failures > 20) return;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < request.threads; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  std::printf(
      "hostile calls, seed %llu: %lld calls in %lld cases of %zu families by %u threads, %.0f s: "
      "%lld good, %lld invalid, %lld unsupported, %lld workspace, %lld cuda, %lld found; "
      "%lld failures\n",
      static_cast<unsigned long long>(request.seed), static_cast<long long>(num_calls),
      static_cast<long long>(num_cases), families.size(), request.threads, seconds(),
      static_cast<long long>(statuses[TW_OK]), static_cast<long long>(statuses[TW_INVALID]),
      static_cast<long long>(statuses[TW_UNSUPPORTED]),
      static_cast<long long>(statuses[TW_WORKSPACE]), static_cast<long long>(statuses[TW_CUDA]),
      static_cast<long long>(statuses[TW_FOUND]), static_cast<long long>(num_failures));
  // A run in which nearly all is refused would have looked at little.
  const bool reached = statuses[TW_OK] * 20 > num_calls;
  if (!reached) std::printf("FAILURE: fewer than one call of 20 is good.\n");
  return num_failures == 0 && reached ? 0 : 1;
}

}  // namespace
}  // namespace tw::hostile

int main(int argc, char** argv) {
  tw::hostile::Request request;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    char* end = nullptr;
    const char* const text = i + 1 < argc ? argv[i + 1] : "";
    const double value = std::strtod(text, &end);
    if (name == "--seed") {
      request.seed = static_cast<std::uint64_t>(value);
    } else if (name == "--calls") {
      request.calls = static_cast<std::int64_t>(value);
    } else if (name == "--minutes") {
      request.minutes = value;
    } else if (name == "--threads") {
      request.threads = static_cast<unsigned>(value);
    } else if (name == "--case") {
      request.only = static_cast<std::int64_t>(value);
    } else {
      end = nullptr;
    }
    if (end == nullptr || end == text || *end != 0 || !(value >= 0 && value < 1e15)) {
      std::fprintf(stderr,
                   "tw: fuzz --interface takes --seed, --calls, --minutes, --threads and --case, "
                   "each with a number, but got '%s %s'.\n",
                   name.c_str(), text);
      return 2;
    }
  }
  request.threads = std::clamp(request.threads, 1u, 64u);
  if (request.calls < 0) request.calls = request.minutes > 0 ? INT64_MAX : 20000;
  if (request.minutes <= 0) request.minutes = 1e9;
  tw::tests::stand_in().records = false;
  return tw::hostile::run(request);
}
