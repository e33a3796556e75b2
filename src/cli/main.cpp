// The program behind ./tw: one subcommand, one file.
#include "src/cli/command.h"
#include "src/cli/explain.h"
#include "src/cli/family_of.h"
#include "src/program.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"Tilewright: structured GPU kernels, on the GPU or on the virtual one", "./tw"};
  app.require_subcommand(1);
  tw::cli::Verdict verdict;
  tw::cli::add_check(app, verdict);
  tw::cli::add_explain(app, tw::cli::all_families(), verdict);
  tw::cli::add_fuzz(app, verdict);
  tw::cli::add_list(app, verdict);
  tw::cli::add_layout(app, verdict);
  tw::cli::add_run(app, verdict);
  tw::cli::add_trace(app, verdict);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  }
  return verdict.status;
}

}  // namespace

int main(int argc, char** argv) {
  return tw::run_program([&] { return run(argc, argv); });
}
