// ./tw trace: what the roles of a kernel wait for, from the virtual GPU or from the GPU.
#include "src/checkout.h"
#include "src/cli/command.h"
#include "src/cli/family_of.h"
#include "src/cli/trace_request.h"

namespace tw::cli {

void add_trace(CLI::App& app, Verdict& verdict) {
  CLI::App* command = app.add_subcommand("trace", "what the roles of a kernel wait for, and when");
  add_trace_described(*command, all_families(), in_checkout("out/trace.json"), verdict);
  require_family(*command, verdict);
}

}  // namespace tw::cli
