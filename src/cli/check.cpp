// ./tw check: many schedules of one problem on the virtual GPU, with every checker on.
#include "src/cli/command.h"
#include "src/cli/described.h"
#include "src/cli/family_of.h"

namespace tw::cli {

void add_check(CLI::App& app, Verdict& verdict) {
  CLI::App* const command = app.add_subcommand("check", "many schedules on the virtual GPU");
  add_check_described(*command, all_families(), verdict);
  require_family(*command, verdict);
}

}  // namespace tw::cli
