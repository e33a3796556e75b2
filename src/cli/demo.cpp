// ./tw demo: every family on the targets that it has kernels for, on the virtual GPU; a bug that it
// finds; a timeline.
#include <fmt/format.h>

#include <fstream>
#include <map>

#include "src/checkout.h"
#include "src/cli/demo_bug.h"
#include "src/cli/described.h"
#include "src/cli/timeline.h"
#include "src/program.h"
#include "src/verify/trials.h"
#include "src/verify/virtual.h"
#include "tilewright/launch/targets.h"

namespace tw::cli {

namespace {

constexpr int problems = 3;  // problems for each family and target

// Random problems and schedules of one instance; `complaint` gets the first that fails.
int run_some(const Trial& trial, const Instance& instance, Random& random, std::string& complaint) {
  int ran = 0;
  for (int i = 0; i < problems && complaint.empty(); ++i) {
    const Case made = random_case(trial, instance, random);
    const vgpu::Options schedule = random_schedule(instance.cluster, random);
    const VirtualRun run = run_virtually(Verified(made), schedule);
    if (!run.status.is_good()) continue;
    ++ran;
    if (!run.clean()) {
      complaint = run_line(made) + schedule_words(schedule) + "\n" + run.complaint();
    }
  }
  return ran;
}

// The cell of a target without a kernel of its own names the target whose kernels its devices run,
// or is a dash.
std::string served_by(const Trial& trial, const TargetFacts& target) {
  for (const Instance& instance : trial.instances()) {
    if (runs_on(instance.target, target.name, instance.capability_end)) {
      return std::string("as ") + instance.target;
    }
  }
  return "-";
}

// A row for each family, a column for each target: problems that were right, with their schedules
// clean.
int show_families() {
  int status = 0;
  Random random(1);
  std::string complaints;
  fmt::print("Random problems on the virtual GPU: right, and no race, hang or leak\n{:<17}", "");
  for (const TargetFacts& target : targets) fmt::print(" {:>9}", target.name);
  fmt::print("\n");
  for (const Trial* trial : all_trials()) {
    std::map<std::string, std::string> cells;
    for (const Instance& instance : trial->instances()) {
      if (cells.count(instance.target) > 0) continue;
      std::string complaint;
      const int ran = run_some(*trial, instance, random, complaint);
      const bool good = ran > 0 && complaint.empty();
      cells[instance.target] = good ? fmt::format("{} of {}", ran, ran) : "WRONG";
      if (!good) status = 1;
      complaints += complaint;
    }
    fmt::print("{:<17}", trial->description->name);
    for (const TargetFacts& target : targets) {
      fmt::print(" {:>9}",
                 cells.count(target.name) > 0 ? cells[target.name] : served_by(*trial, target));
    }
    fmt::print("\n");
    std::fflush(stdout);  // pipes show it, too: each family takes its time
  }
  fmt::print("{}", complaints);
  return status;
}

// Broken into lines.
std::string wrapped(const std::string& text, std::size_t columns) {
  std::string lines, line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (line.size() + end - at > columns) {
      lines += "  " + line + "\n";
      line.clear();
    }
    line += text.substr(at, end - at) + " ";
    at = end + 1;
  }
  return lines + "  " + line + "\n";
}

int show_bug() {
  const vgpu::Report report = run_ring_released_early();
  if (report.findings.empty()) {
    fmt::print("The bug in examples/own_ring was not found.\n");
    return 1;
  }
  const vgpu::Finding& finding = report.findings[0];
  fmt::print(
      "\nA bug: the reader of a ring (examples/own_ring) lets go of a stage before its last eight "
      "rows are read.\nThe sums may well be right; the virtual GPU says:\n{}",
      wrapped(finding.name + ": " + finding.text, 90));
  return 0;
}

int show_timeline() {
  const Trial& trial = *all_trials()[0];
  const Case made = usual_case(trial, trial.instances()[0]);
  vgpu::Options options;
  options.landing = vgpu::Landing::Eager;
  RecordedRun run = {title_of(made), "the virtual GPU", true, {}};
  {
    const vgpu::Recording recording(run.timeline);
    static_cast<void>(run_virtually(Verified(made), options));
  }
  const std::string page = in_checkout("out/demo.html");
  std::ofstream file(page);
  file << html_page({run}, 4);
  file.close();
  if (!file) {
    fmt::print(stderr, "tw: the file '{}' cannot be written.\n", page);
    return 2;
  }
  fmt::print("\nA timeline of {}:\n{}", made.instance->name, summary(run));
  fmt::print("It is drawn in {}; docs/pictures has tiles, swizzles and the walk of a product.\n",
             page);
  return 0;
}

int demo() {
  const int families = show_families(), bug = show_bug(), timeline = show_timeline();
  fmt::print(
      "\nNext: ./tw run matmul --m 70 --n 9          one verified problem (--help: its options)\n"
      "      ./tw check matmul --schedules 100     one problem under many schedules\n"
      "      ./tw trace matmul --html page.html    who waits for whom\n"
      "      docs/own_kernel.md                    a kernel of your own, checked like these\n");
  return std::max({families, bug, timeline});
}

}  // namespace

}  // namespace tw::cli

int main() { return tw::run_program(tw::cli::demo); }
