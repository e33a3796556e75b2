// ./tw run: one verified run of any family, on the GPU or on the virtual GPU.
#include "src/cli/command.h"
#include "src/cli/described.h"
#include "src/cli/family_of.h"

namespace tw::cli {

void add_run(CLI::App& app, Verdict& verdict) {
  CLI::App* const command = app.add_subcommand("run", "one verified run");
  add_run_described(*command, all_families(), verdict);
  require_family(*command, verdict);
}

}  // namespace tw::cli
