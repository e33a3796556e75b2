#include "src/cli/command_line.h"

#include <fmt/format.h>

#include <memory>

#include "src/cli/bench_request.h"
#include "src/cli/described.h"
#include "src/cli/explain.h"
#include "src/cli/fuzzer.h"
#include "src/cli/trace_request.h"
#include "src/program.h"

namespace tw::cli {

namespace {

std::string usual_sentence(const std::string&, const std::string&, const std::string& usual) {
  return usual;
}

void fuzz(const FuzzRequest& request, std::span<const Trial* const> trials, Verdict& verdict) {
  const Result<bool> on_gpu = request.place();
  if (!on_gpu.status.is_good()) return verdict.refuse(on_gpu.status.sentence());
  std::vector<CaseMaker> makers;
  add_described_cases(makers, trials, request.arch, request.instance, *on_gpu.value,
                      request.running());
  if (makers.empty()) {
    return verdict.refuse(
        fmt::format("No instance of this program runs on {} for --arch '{}' and --instance '{}'.",
                    *on_gpu.value ? "the GPU" : "the virtual GPU", request.arch, request.instance));
  }
  fuzz_cases(request, *on_gpu.value, std::move(makers), verdict);
}

void list(std::span<const Trial* const> trials) {
  fmt::print("{:<12} {:<7} {:<30} {:>7}  built for\n", "family", "target", "instance", "cluster");
  for (const Trial* trial : trials) {
    for (const Instance& instance : trial->instances()) {
      fmt::print("{:<12} {:<7} {:<30} {:>7}  virtual GPU{}\n", trial->description->name,
                 instance.target, instance.name, instance.cluster,
                 instance.launch != nullptr ? ", GPU" : "");
    }
  }
}

int run(std::span<const Trial* const> trials, int argc, char** argv) {
  CLI::App app{"Kernels of one's own, on the GPU or on the virtual one", argv[0]};
  app.require_subcommand(1);
  Verdict verdict;
  const Families families = {trials, usual_sentence};
  const auto add = [&](const char* name, const char* meaning) {
    CLI::App* const command = app.add_subcommand(name, meaning);
    command->require_subcommand(1);
    return command;
  };
  add_run_described(*add("run", "one verified run"), families, verdict);
  add_check_described(*add("check", "many schedules on the virtual GPU"), families, verdict);
  add_trace_described(*add("trace", "what roles wait for, on the virtual GPU"), families,
                      "trace.json", verdict);
  add_explain(app, families, verdict);
  add_bench_described(*add("bench", "how long a launch takes, on the GPU"), families, verdict);
  FuzzRequest request;
  CLI::App* const command =
      app.add_subcommand("fuzz", "random problems, instances and schedules; failures are shrunk");
  request.add_options(*command);
  command->callback([&] { fuzz(request, trials, verdict); });
  app.add_subcommand("list", "families, targets and instances")->callback([&] { list(trials); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
  return verdict.status;
}

}  // namespace

}  // namespace tw::cli

namespace tw {

int command_line(std::span<const Trial* const> trials, int argc, char** argv) {
  set_program_name(argv[0]);
  return run_program([&] { return cli::run(trials, argc, argv); });
}

}  // namespace tw
