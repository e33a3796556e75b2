// ./tw ptx: a kernel of anybody's, as PTX, on the virtual GPU.
#include "src/program.h"
#include "src/ptx_tool/request.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"a kernel as PTX on the virtual GPU, under many schedules, with every checker on",
               "./tw ptx"};
  tw::ptx_tool::PtxRequest request;
  request.add_options(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  }
  return tw::ptx_tool::run(request);
}

}  // namespace

int main(int argc, char** argv) {
  return tw::run_program([&] { return run(argc, argv); });
}
