// ./tw bench: our kernels beside their peers, interleaved in one run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/bench/harness/classes.h"
#include "src/bench/harness/contest.h"
#include "src/bench/harness/device.h"
#include "src/bench/harness/report.h"
#include "src/bench/harness/request.h"
#include "src/bench/harness/roofline.h"
#include "src/bench/harness/tune.h"
#include "src/bench/peers/peers.h"
#include "src/cli/described.h"
#include "src/program.h"
#include "src/verify/trials.h"

namespace {

using namespace tw::bench;
using tw::Status;

int run(const BenchRequest& request, const std::vector<MeasuredCase>& cases, RunFacts facts) {
  if (const std::string why =
          unwritable({request.json, request.table, request.roofline, request.csv});
      !why.empty()) {
    return refuse(why);
  }
  if (request.host_time) {
    HostTime time;
    const Status status = measure_host_time(time);
    if (!status.is_good()) return refuse(status.sentence());
    std::printf("A warm tw_matmul takes %.2f us of the host, with a plan %.2f us.\n", time.call_us,
                time.planned_us);
    facts.host_call_us = time.call_us;
    facts.host_planned_us = time.planned_us;
  }
  if (request.peer_function == nullptr) facts.driver += version_of_peer(request.peers);
  const double copy = cases.empty() ? 0 : copy_bytes_per_second();
  std::vector<ShapeResult> results;
  Summary summary;
  std::string csv = csv_head(facts);
  const double foreign_us =
      request.between ? foreign_microseconds(request.rounds, request.slice) : 0;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> left_out;
  if (!cases.empty()) std::printf("%s", text_head().c_str());
  for (const MeasuredCase& what : cases) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (request.seconds > 0 && passed.count() > request.seconds) {
      left_out.push_back(what.shape.text);
      continue;
    }
    results.push_back(measure(request, what, foreign_us));
    std::printf("%s", text_of(results.back()).c_str());
    std::printf("%.1f s: %zu of %zu shapes\n", passed.count(), results.size(), cases.size());
    std::fflush(stdout);
    // So far: a run that is ended early has what it measured.
    summary = summarise(results, copy);
    csv += csv_of(facts, results.back());
    write_file(request.csv, csv);
    write_file(request.json, json_of(facts, results, summary).dump(1) + "\n");
    write_file(request.table, markdown_of(facts, results, summary));
  }
  summary.left_out = left_out;
  if (!left_out.empty()) {
    write_file(request.json, json_of(facts, results, summary).dump(1) + "\n");
    write_file(request.table, markdown_of(facts, results, summary));
  }
  if (!results.empty()) {
    std::printf("\n%s\n%s", text_of(classes_of(results)).c_str(), text_of(summary).c_str());
  }
  if (results.empty()) write_file(request.json, json_of(facts, results, summary).dump(1) + "\n");
  if (!request.roofline.empty()) write_file(request.roofline, roofline(facts, results));
  return summary.failed.empty() ? 0 : 1;
}

RunFacts facts_of(const BenchRequest& request, const std::vector<MeasuredCase>& cases,
                  const std::string& file, int argc, char** argv) {
  const std::string type = cases.empty() ? "" : name_of(cases.front().shape.type);
  RunFacts facts = facts_of_run(argc, argv, request.family, type, request.rounds, request.slice);
  facts.suite = file;
  if (!request.commit.empty()) facts.commit = request.commit;
  return facts;
}

int measure_shapes(const ShapeForm& form, int argc, char** argv) {
  BenchRequest request;
  CLI::App app{"Measures kernels beside their peers, interleaved", "./tw bench"};
  add_options(app, request, form);
  std::vector<MeasuredCase> cases;
  std::string file;
  return run_command(
      app, argc, argv, [&] { return read_request(request, cases, file, form); },
      [&] { return run(request, cases, facts_of(request, cases, file, argc, argv)); });
}

// A case of the options that follow from the description, as ./tw run has them.
MeasuredCase measured_case(tw::Case made) {
  (void)made.settle();  // the case has been taken by a kernel
  MeasuredCase what;
  what.described = made.trial->description;
  what.problem = problem_without_memory(made);
  what.data = std::make_shared<tw::HostProblem>(made);
  what.shape.text = problem_words(*what.described, made.problem.data(), made.lists).substr(1);
  what.shape.type =
      static_cast<tw::ElementType>(what.described->tensors.front().get(made.problem.data()).type);
  return what;
}

// Families without shapes and peers.
int measure_described(int argc, char** argv) {
  BenchRequest request;
  request.family = argv[1];
  request.peers = "none";
  CLI::App app{"Measures the library's choice, or a kernel that is named", "./tw bench"};
  app.require_subcommand(1);
  tw::cli::Verdict verdict;
  const auto usual = [](const std::string&, const std::string&, const std::string& said) {
    return said;
  };
  std::vector<MeasuredCase> cases;
  tw::cli::add_described(
      app, {tw::all_trials(), usual},
      [&](const tw::Case& made, const tw::vgpu::Options&, tw::cli::Verdict&) {
        for (int i = 2; i < argc; ++i) {
          const std::string word = argv[i];
          if (word == "--instance" || word.starts_with("--instance=")) {
            request.own.instance = made.instance->name;
          }
        }
        cases = {measured_case(made)};
      },
      verdict, [&](CLI::App& family) { add_measuring_options(family, request); });
  return run_command(
      app, argc, argv,
      [&] { return cases.empty() ? Status::refused("") : complete(cases.front()); },
      [&] { return run(request, cases, facts_of(request, cases, "", argc, argv)); });
}

// Whether shapes are asked for: by themselves, as a suite, or, where no option is one that only
// ./tw run has, the usual ones.
bool names_shapes(const ShapeForm& form, int argc, char** argv) {
  BenchRequest unused;
  CLI::App of_shapes;
  add_options(of_shapes, unused, form);
  bool knows_all = true;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i], option = word.substr(0, word.find('='));
    if (option == "--shape" || option == "--suite") return true;
    // Values do not begin like this.
    if (!option.starts_with("--")) continue;
    knows_all = knows_all && of_shapes.get_option_no_throw(option) != nullptr;
  }
  return knows_all;
}

int run_any(int argc, char** argv) {
  const std::string family = argc > 1 ? argv[1] : "";
  if (family == "tune") return tune_calls(argc - 1, argv + 1);
  const ShapeForm* const form = form_of(family);
  if (form != nullptr && (!form->also_described || names_shapes(*form, argc, argv))) {
    return measure_shapes(*form, argc, argv);
  }
  std::vector<std::string> families;
  for (const tw::Trial* trial : tw::all_trials()) {
    if (family == trial->description->name) return measure_described(argc, argv);
    families.push_back(trial->description->name);
  }
  return refuse(fmt::format("There is no family '{}' to measure; there are {}.", family,
                            fmt::join(families, ", ")));
}

}  // namespace

int main(int argc, char** argv) {
  return tw::run_program([&] { return run_any(argc, argv); });
}
