#include "src/cli/trace_request.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/product_request.h"
#include "src/cli/timeline.h"
#include "src/run/virtual.h"

namespace tw::cli {

namespace {

void trace(const TraceRequest& request, const Case& made, vgpu::Options options, Verdict& verdict) {
  options.landing = vgpu::Landing::Eager;  // the model of time assumes that copies land in order
  const Verified verified(made);
  vgpu::Timeline timeline;
  VirtualRun run;
  {
    const vgpu::Recording recording(timeline);
    run = run_virtually(verified, options);
  }
  if (!run.status.is_good()) return verdict.refuse(run.status.sentence());
  if (!run.clean()) {
    fmt::print(stderr, "{}", run.complaint());
    verdict.status = 1;
  }
  request.write(timeline, title_of(made), verdict);
}

}  // namespace

void TraceRequest::add_options(CLI::App& command) {
  command.add_option("-o,--output", output, "the file to write")->capture_default_str();
  command.add_option("--html", html, "a page to write beside, for any browser");
  command.add_option("--ctas", ctas, "CTAs to write, the first of the grid")
      ->check(CLI::Range(1u, 256u))
      ->capture_default_str();
}

bool write_file(const std::string& name, const std::string& text, Verdict& verdict) {
  const std::filesystem::path path(name);
  std::error_code ignored;  // a folder that cannot be made shows when the file is written
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) verdict.refuse(fmt::format("The file '{}' cannot be written.", name));
  return !!file;
}

void TraceRequest::write(const vgpu::Timeline& timeline, const std::string& title,
                         Verdict& verdict) const {
  const nlohmann::json events = perfetto(timeline, ctas);
  if (!write_file(output, events.dump() + "\n", verdict)) return;
  if (!html.empty() && !write_file(html, html_page(timeline, ctas, title), verdict)) return;
  fmt::print("{} on the virtual GPU\n{}{} events in {}; open it at ui.perfetto.dev\n", title,
             summary(timeline), events["traceEvents"].size(), output);
  if (!html.empty()) fmt::print("{} opens in any browser\n", html);
}

void add_trace_described(CLI::App& command, const Families& families, const std::string& output,
                         Verdict& verdict) {
  auto request = std::make_shared<TraceRequest>();
  request->output = output;
  add_described(
      command, families,
      [request](const Case& made, const vgpu::Options& options, Verdict& said) {
        trace(*request, made, options, said);
      },
      verdict, [request](CLI::App& family) { request->add_options(family); });
}

}  // namespace tw::cli
