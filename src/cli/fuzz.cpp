// ./tw fuzz: random problems, instances and schedules until the time is over; a failure is shrunk
// to one `./tw run` line.
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <random>

#include "src/checkout.h"
#include "src/cli/choose_instance.h"
#include "src/cli/command.h"
#include "src/cli/described.h"
#include "src/cli/fuzz_case.h"
#include "src/cli/fuzz_conv2d.h"
#include "src/cli/fuzzer.h"
#include "src/cli/landing.h"
#include "src/cli/shrink.h"
#include "src/matmul/gpu.h"
#include "src/matmul/random_task.h"
#include "src/matmul/virtual.h"
#include "src/run/trials.h"

namespace tw::cli {

namespace {

struct AllRequest : FuzzRequest {
  int largest = 0;  // of matmul; 0: 320 on the virtual GPU, 2000 on the GPU
};

// Exact results are the same bytes anyway.
bool twice(const MatmulTask& task) { return task.fill == Fill::Normal; }

std::string line_of(const FuzzCase& one, bool on_gpu) {
  return run_line(one.task) + (on_gpu ? " --on gpu" : schedule_words(one.schedule)) +
         (twice(one.task) ? " --twice" : "");
}

// Oracles: checkers, reference, poison and padding; and for data whose sums are rounded, that
// another schedule gives the same bytes.
Outcome judge_virtually(const FuzzCase& one) {
  const MatmulTask& task = one.task;
  const VerifiedProblem problem(task.shape, task.fill, task.seed);
  const VirtualRun run =
      run_virtually(*task.instance, task.order, problem, TraceBuffer{}, one.schedule);
  Outcome outcome = {run.status, run.complaint()};
  if (!outcome.status.is_good() || outcome.failed() || !twice(task)) return outcome;
  const VirtualRun again = run_virtually(*task.instance, task.order, problem, TraceBuffer{},
                                         another_schedule(one.schedule));
  outcome.complaint = again.complaint();
  if (!outcome.failed() && !same_outputs(run.data, again.data)) {
    outcome.complaint = not_deterministic;
  }
  return outcome;
}

Outcome judge_on_gpu(const FuzzCase& one) {
  const MatmulTask& task = one.task;
  MatmulData first = make_matmul_data(task.shape, task.fill, task.seed);
  MatmulData second = first;
  Outcome outcome;
  for (MatmulData* data : {&first, &second}) {
    outcome.status = run_on_gpu(*task.instance, task.order, *data, task.shape, 1);
    if (!outcome.status.is_good()) return outcome;
  }
  outcome.complaint = compare(first, reference_on_gpu(first, task.shape)).complaint();
  if (!same_outputs(first, second)) outcome.complaint += not_deterministic;
  return outcome;
}

FuzzCase random_case(const MatmulInstance& instance, int largest, std::mt19937_64& random) {
  FuzzCase one;
  one.task = random_task(instance, largest, random);
  if (random() % 4 == 0) {
    one.task.fill = Fill::Normal;
    one.task.shape.epilogue.output_scale = fitting_output_scale(one.task.shape, Fill::Normal);
  }
  one.schedule = random_schedule(instance.config.tiling.cluster.size(), random);
  return one;
}

// On a GPU a hang or a fault ends the program: the file `running` then tells which case it was.
AnyCase matmul_case(const FuzzCase& one, bool on_gpu, const std::string& running) {
  const auto judge = [on_gpu, running](const FuzzCase& given) {
    if (!on_gpu) return judge_virtually(given);
    std::ofstream(running) << line_of(given, on_gpu) << "\n";
    return judge_on_gpu(given);
  };
  return {one.task.instance->name, line_of(one, on_gpu), [judge, one] { return judge(one); },
          [judge, one, on_gpu] {
            const auto fails = [&judge](const FuzzCase& given) {
              const MatmulTask& task = given.task;
              return serves(*task.instance, task.shape, task.order).is_good() &&
                     judge(given).failed();
            };
            const FuzzCase small = shrink(one, fails, shrink_tries);
            return ShrunkCase{line_of(small, on_gpu), judge(small).complaint};
          }};
}

void add_matmul_cases(std::vector<CaseMaker>& makers, const AllRequest& request, bool on_gpu) {
  const int largest = request.largest > 0 ? request.largest : on_gpu ? 2000 : 320;
  for (const MatmulInstance& instance : matmul_instances()) {
    if (instance.config.tracing == Tracing::On) continue;
    if (!request.arch.empty() && request.arch != instance.target) continue;
    if (!request.instance.empty() && request.instance != instance.name) continue;
    const bool runs = on_gpu ? why_not_on_gpu(instance).empty() : instance.simulate != nullptr;
    if (!runs) continue;
    makers.push_back([&instance, largest, on_gpu, running = request.running()](auto& random) {
      return matmul_case(random_case(instance, largest, random), on_gpu, running);
    });
  }
}

void fuzz(const AllRequest& request, Verdict& verdict) {
  std::vector<CaseMaker> makers;
  add_described_cases(makers, all_trials(), request.arch, request.instance, request.on == "gpu",
                      request.running());
  if (request.on != "gpu") {
    add_conv2d_cases(makers, request.arch, request.instance);
  }
  Wish wish;
  wish.arch = request.arch;
  if (makers.empty()) wish.instance = request.instance;  // else another family has it
  if (Status known = check_words(wish); !known.is_good()) return verdict.refuse(known.sentence());
  const Result<bool> on_gpu = request.place();
  if (!on_gpu.status.is_good()) return verdict.refuse(on_gpu.status.sentence());
  add_matmul_cases(makers, request, *on_gpu.value);
  if (makers.empty()) {
    return verdict.refuse(fmt::format("No instance of this build runs on {} for --arch '{}'.",
                                      *on_gpu.value ? "the GPU" : "the virtual GPU", request.arch));
  }
  fuzz_cases(request, *on_gpu.value, std::move(makers), verdict);
}

}  // namespace

void add_fuzz(CLI::App& app, Verdict& verdict) {
  auto request = std::make_shared<AllRequest>();
  CLI::App* command =
      app.add_subcommand("fuzz", "random problems, instances and schedules; failures are shrunk");
  request->corpus = in_checkout("tests/corpus/found.txt");
  request->add_options(*command);
  command->add_option("--largest", request->largest, "of m, n and k; 0: 320, on the GPU 2000")
      ->check(CLI::Range(0, 65536));
  command->callback([request, &verdict] { fuzz(*request, verdict); });
}

}  // namespace tw::cli
