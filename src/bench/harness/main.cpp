// ./tw bench: our kernels beside their peers, interleaved in one run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/bench/harness/classes.h"
#include "src/bench/harness/device.h"
#include "src/bench/harness/forms.h"
#include "src/bench/harness/own.h"
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

struct Request {
  std::string family;
  std::string suite;
  std::vector<std::string> shapes;
  CaseRequest what;
  std::string scales = "row";
  std::string peers;  // empty: the family's
  OwnRequest own;
  std::string epilogue;
  EpilogueNodes nodes;
  bool each = false;
  bool regret = false;
  bool host_time = false;
  int rounds = 11;
  int algorithms = 0;  // 0: what is usual
  double plan_seconds = 3;
  double seconds = 0;  // 0: as long as it takes
  bool between = false;
  double slice = final_slice_milliseconds;
  std::string json, table, csv, roofline;
  std::string commit;  // empty: the repository's
};

// How launches are measured, and where the figures go.
void add_measuring_options(CLI::App& app, Request& request) {
  app.add_option("--instances", request.own.instances,
                 "the fastest of the instances whose name contains one of these, or all; without "
                 "it the library's C interface is measured");
  app.add_flag("--each", request.each, "show every instance, not only the fastest");
  app.add_option("--rounds", request.rounds)->check(CLI::Range(3, 1000));
  app.add_option("--slice", request.slice, "milliseconds of a candidate in each round")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--between", request.between,
               "also with a small foreign kernel behind each launch of both sides");
  app.add_option("--seconds", request.seconds,
                 "no shape is begun later than that; those left out are named")
      ->check(CLI::Range(1, 100000));
  app.add_option("--json", request.json, "also write everything there");
  app.add_option("--table", request.table, "also write a table in Markdown there");
  app.add_option("--commit", request.commit,
                 "what the report says in place of what the repository answers");
  app.add_option("--csv", request.csv, "also write a line for each kernel there, shape by shape");
}

void add_options(CLI::App& app, Request& request, const ShapeForm& form) {
  std::vector<std::string> types;
  for (const tw::ElementType type : form.types) types.push_back(name_of(type));
  app.add_option("family", request.family, form.description->meaning)->required();
  app.add_option("--suite", request.suite, "a name of bench/suites, or a JSON file of shapes");
  app.add_option("--shape", request.shapes, form.text() + "; may be repeated");
  app.add_option("--type", request.what.type,
                 fmt::format("of operands: {}", fmt::join(types, ", ")));
  app.add_option("--peers", request.peers, fmt::format("{} or none", form.peer));
  app.add_option("--candidates", request.own.candidates,
                 "instead: each of about so many launches, by the cost model and of every kind")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--regret", request.regret,
               "also the fastest launch of a shortlist, beside the library's choice");
  app.add_flag("!--by-model", request.own.by_table,
               "the dispatcher's choice without tables of measured exceptions");
  app.add_option("--group", request.own.groups,
                 "tiles per raster group, along m and n; may be repeated");
  app.add_option("--plans", request.algorithms, "so many of the peer's are tried, at most")
      ->check(CLI::Range(1, 1000));
  app.add_option("--plan-seconds", request.plan_seconds, "cudnn: as long plans of a shape are made")
      ->check(CLI::Range(0.1, 1000.0));
  app.add_option("--epilogue", request.epilogue,
                 "comma-separated bias, residual, relu, also measured; none: sums alone");
  app.add_flag("--host-time", request.host_time, "also the host's time in a warm tw_matmul");
  app.add_option("--roofline", request.roofline, "also draw a roofline there, as SVG");
  app.add_option("--seed", request.what.seed, "of the sizes of groups");
  app.add_flag("--row-major-scales", request.what.row_major_scales,
               "blockwise: our scales of A lie row by row, the peer's column by column");
  app.add_flag("--b-is-constant", request.what.b_is_constant,
               "B, as weights, was complete before the kernel before this one began");
  app.add_option("--scales", request.scales, "quantise: row or column, what is contiguous")
      ->check(CLI::IsMember({"row", "column"}));
  add_measuring_options(app, request);
}

Status read_epilogue(EpilogueNodes& nodes, const std::string& text) {
  std::stringstream words(text == "none" ? "" : text);
  for (std::string word; std::getline(words, word, ',');) {
    bool* const node = word == "bias"       ? &nodes.bias
                       : word == "residual" ? &nodes.residual
                       : word == "relu"     ? &nodes.relu
                                            : nullptr;
    if (node == nullptr) {
      return Status::refused("There is no epilogue '" + word +
                             "'; there are bias, residual and relu.");
    }
    *node = true;
  }
  return Status::good();
}

Status read_request(Request& request, std::vector<MeasuredCase>& cases, std::string& file,
                    const ShapeForm& form) {
  if (request.regret && !request.own.asks_the_library()) {
    return Status::refused(
        "--regret is of the library's choice, but --instances, --candidates or --by-model asks for "
        "another.");
  }
  if (request.peers.empty()) request.peers = form.peer;
  if (request.peers != form.peer && request.peers != "none") {
    return Status::refused(
        fmt::format("There is no peer '{}'; there is {}.", request.peers, form.peer));
  }
  if (request.algorithms == 0) request.algorithms = request.peers == "cudnn" ? 1000 : 16;
  // Convolutions hardly ever come alone.
  const bool is_convolution = request.peers == "cudnn";
  if (request.epilogue.empty() && is_convolution) request.epilogue = "bias,residual,relu";
  if (Status status = read_epilogue(request.nodes, request.epilogue); !status.is_good()) {
    return status;
  }
  if (form.description->product == nullptr &&
      (request.nodes.any() || !request.roofline.empty() || request.own.candidates > 0)) {
    return Status::refused(
        fmt::format("{} multiplies nothing: there is no --epilogue, --roofline or --candidates.",
                    form.description->name));
  }
  request.what.column_scales = request.scales == "column";
  if (request.host_time && request.suite.empty() && request.shapes.empty()) return Status::good();
  return read_cases(cases, file, form, request.suite, request.shapes, request.what);
}

// Candidates of one shape, with where their measurements go.
struct Contest {
  enum class Computes { Sums, WithEpilogue, Other };
  std::vector<Candidate> candidates;
  std::vector<Computes> computes;
  std::vector<std::function<void(const Measurement&)>> take;

  template <class Take>
  void add(const std::vector<Candidate>& some, Computes what, const Take& taken) {
    for (const Candidate& one : some) {
      candidates.push_back(one);
      computes.push_back(what);
      take.push_back(taken);
    }
  }
};

// A refusal is a measurement that did not run.
std::vector<Candidate> own_of(const Request& request, const OwnRequest& asked,
                              const Buffers& buffers, bool with_epilogue) {
  std::vector<Candidate> candidates;
  const Status status = own_candidates(candidates, asked, buffers, with_epilogue);
  if (!status.is_good()) return {{"tilewright", [status](int, void*) { return status; }}};
  if (request.each || request.own.candidates > 0) return candidates;
  return fastest(candidates, buffers.sets(), choosing_slice(request.slice));
}

// Everything of one shape that computes the same must agree, but for rounding: what is measured is
// then what was meant.
void compare_outputs(ShapeResult& result, const Contest& contest,
                     const std::vector<Measurement>& measured, const Buffers& buffers) {
  // A share of the norm; FP8 sums keep few bits on some devices.
  const double tolerance = tw::bytes_of(result.shape.type) == 1 ? 0.05 : 0.01;
  std::vector<float> expected[2];
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!measured[i].ran() || contest.computes[i] == Contest::Computes::Other) continue;
    (void)buffers.take_output(0);
    if (!contest.candidates[i].launch(0, nullptr).is_good()) continue;
    const std::vector<float> values = buffers.take_output(0);
    std::vector<float>& first = expected[contest.computes[i] == Contest::Computes::Sums ? 0 : 1];
    if (first.empty()) first = values;
    double difference = 0, norm = 0;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (std::isnan(values[j]) && std::isnan(first[j])) continue;  // between lines
      difference += std::pow(double(values[j]) - first[j], 2);
      norm += double(first[j]) * first[j];
    }
    if (difference <= tolerance * tolerance * norm) continue;
    result.wrong = true;
    result.notes.push_back(fmt::format("The output of {} differs by {:.3g} of its norm.",
                                       measured[i].name, std::sqrt(difference / norm)));
  }
}

// Where candidates of one kind stand in a contest: the fastest of them alone, and with a foreign
// kernel between launches.
void add_fastest(Contest& contest, const Request& request, const std::vector<Candidate>& some,
                 int sets, Contest::Computes what, std::optional<Measurement>& alone,
                 std::optional<Measurement>& between) {
  const double choosing = choosing_slice(request.slice);
  const std::vector<Candidate> first = fastest(some, sets, choosing);
  std::vector<Candidate> second;
  if (request.between) second = fastest(some, sets, choosing, true);
  const bool is_same = !second.empty() && second.front().name == first.front().name;
  contest.add(first, what, [&alone, &between, is_same](const Measurement& one) {
    alone = one;
    if (is_same) between = one;
  });
  if (is_same) return;
  contest.add(second, what, [&between](const Measurement& one) { between = one; });
}

ShapeResult measure(const Request& request, const MeasuredCase& what, double foreign_us) {
  using enum Contest::Computes;
  const Buffers buffers(what, 1, request.nodes);
  int sets = buffers.sets();
  const double choosing = choosing_slice(request.slice);
  ShapeResult result;
  result.shape = what.shape;
  const auto into = [](std::optional<Measurement>& place) {
    return [&place](const Measurement& one) { place = one; };
  };
  const auto onto = [](std::vector<Measurement>& list) {
    return [&list](const Measurement& one) { list.push_back(one); };
  };
  const std::vector<Candidate> own = own_of(request, request.own, buffers, false);
  Peers peers;
  if (request.peers != "none") {
    peers = peers_of(buffers, {request.algorithms, request.plan_seconds}, own.front().name);
  }
  result.foreign_us = foreign_us;
  result.peer_tried = peers.computes_the_same ? peers.plain.size() : 0;
  result.peer_share = peers.share;
  result.notes = peers.notes;
  Contest contest;
  add_fastest(contest, request, peers.plain, sets, peers.computes_the_same ? Sums : Other,
              result.peer, result.peer_between);
  const std::vector<Candidate> peer(contest.candidates.begin(),
                                    contest.candidates.begin() + !contest.candidates.empty());
  contest.add(own, Sums, onto(result.own));
  if (request.nodes.any()) {
    contest.add(fastest(peers.fused, sets, choosing), WithEpilogue, into(result.peer_fused));
    for (const Candidate& one : peer) {
      if (!peers.then_kernel) continue;
      contest.add({peers.then_kernel(one)}, WithEpilogue, into(result.peer_then_kernel));
    }
    contest.add(own_of(request, request.own, buffers, true), WithEpilogue,
                onto(result.own_epilogue));
  }
  bool is_fastest = false, is_fastest_between = false;
  if (request.regret) {
    OwnRequest shortlist;
    shortlist.candidates = shortlist_length;
    std::vector<Candidate> compiled;
    (void)own_candidates(compiled, shortlist, buffers);
    // The library's choice is not measured against itself.
    const auto is_own = [&own](const Candidate& one) { return one.name == own.front().name; };
    const auto best = fastest(compiled, sets, choosing);
    is_fastest = !best.empty() && is_own(best.front());
    if (!is_fastest) contest.add(best, Sums, into(result.compiled));
    if (request.between) {
      const auto best_between = fastest(compiled, sets, choosing, true);
      is_fastest_between = !best_between.empty() && is_own(best_between.front());
      if (!is_fastest_between) contest.add(best_between, Sums, into(result.compiled_between));
    }
  }
  std::optional<Buffers> larger;
  if (what.compared_to > 0) {
    const MeasuredCase larger_case = rounded_up(what);
    result.larger_shape = larger_case.shape;
    larger.emplace(larger_case, 1);
    sets = std::min(sets, larger->sets());
    contest.add(fastest(own_of(request, request.own, *larger, false), sets, choosing), Other,
                into(result.rounded_up));
  }
  const auto measured = interleave(contest.candidates, sets, request.rounds, request.slice, 1,
                                   {true, request.between});
  for (std::size_t i = 0; i < measured.size(); ++i) contest.take[i](measured[i]);
  if (is_fastest && result.best() != nullptr) result.compiled = *result.best();
  if (is_fastest_between && result.best() != nullptr) result.compiled_between = *result.best();
  if (what.description().product != nullptr) {
    compare_outputs(result, contest, measured, buffers);
  }
  return result;
}

int run(const Request& request, const std::vector<MeasuredCase>& cases, RunFacts facts) {
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
  facts.driver += version_of_peer(request.peers);
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

RunFacts facts_of(const Request& request, const std::vector<MeasuredCase>& cases,
                  const std::string& file, int argc, char** argv) {
  const std::string type = cases.empty() ? "" : name_of(cases.front().shape.type);
  RunFacts facts = facts_of_run(argc, argv, request.family, type, request.rounds, request.slice);
  facts.suite = file;
  if (!request.commit.empty()) facts.commit = request.commit;
  return facts;
}

int measure_shapes(const ShapeForm& form, int argc, char** argv) {
  Request request;
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
  Request request;
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

int run_any(int argc, char** argv) {
  const std::string family = argc > 1 ? argv[1] : "";
  if (family == "tune") return tune_calls(argc - 1, argv + 1);
  if (const ShapeForm* form = form_of(family)) return measure_shapes(*form, argc, argv);
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
