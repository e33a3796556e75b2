// ./tw bench of families that have no peers to be measured beside: launches of one kernel.
#include "src/bench/alone.h"

#include "src/cli/bench_request.h"
#include "src/run/trials.h"

namespace tw::bench {

bool is_described(const std::string& family) {
  for (const Trial* trial : all_trials()) {
    if (family == trial->description->name) return true;
  }
  return false;
}

int measure_alone(int argc, char** argv) {
  CLI::App app{"Measures launches of one kernel", "./tw bench"};
  app.require_subcommand(1);
  cli::Verdict verdict;
  const auto usual = [](const std::string&, const std::string&, const std::string& said) {
    return said;
  };
  cli::add_bench_described(app, {all_trials(), usual}, verdict);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "tw: %s\n", error.what());
    return 2;
  }
  return verdict.status;
}

}  // namespace tw::bench
