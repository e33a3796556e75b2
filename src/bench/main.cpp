// ./tw bench: our kernels beside their peers, interleaved in one run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "src/bench/alone.h"
#include "src/bench/blockwise.h"
#include "src/bench/cublaslt.h"
#include "src/bench/device.h"
#include "src/bench/own.h"
#include "src/bench/report.h"
#include "src/bench/request.h"
#include "src/bench/roofline.h"
#include "src/bench/suite.h"
#include "src/bench/tune.h"
#include "src/matmul/names.h"
#include "src/program.h"

namespace {

using namespace tw::bench;
using tw::Status;

struct Request {
  std::string family;
  std::string suite;
  std::vector<std::string> shapes;
  std::string peers = "cublaslt";
  std::string type;  // empty: the suite's, or bf16
  OwnRequest own;
  bool each = false;
  bool regret = false;
  bool host_time = false;
  int rounds = 11;
  int algorithms = 16;
  double slice = 0;  // milliseconds; 0: what is usual
  std::string json;
  std::string table;
  std::string roofline;
  std::string csv;
  bool row_major_scales = false;
};

void add_options(CLI::App& app, Request& request) {
  app.add_option("family", request.family, "matmul, blockwise, conv2d or grouped")->required();
  app.add_option("--suite", request.suite,
                 "bf16, fp8 or ragged of bench/suites, or a JSON file of shapes");
  app.add_option("--shape", request.shapes, "MxNxK; may be repeated");
  app.add_option("--type", request.type, "of A and B: bf16, fp16, e4m3 or e5m2");
  app.add_option("--peers", request.peers, "cublaslt or none");
  app.add_option("--instances", request.own.instances,
                 "the fastest of the instances whose name contains one of these, or all; without "
                 "it the library's C interface is measured");
  app.add_option("--candidates", request.own.candidates,
                 "instead: each of about so many launches, by the cost model and of every kind")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--regret", request.regret,
               "also the fastest launch of a shortlist, beside the library's choice");
  app.add_flag("!--by-model", request.own.by_table,
               "the dispatcher's choice without tables of measured exceptions");
  app.add_option("--group", request.own.groups,
                 "tiles per raster group, along m and n; may be repeated");
  app.add_option("--rounds", request.rounds)->check(CLI::Range(3, 1000));
  app.add_option("--slice", request.slice, "milliseconds of a candidate in each round")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--each", request.each, "show every instance, not only the fastest");
  app.add_flag("--host-time", request.host_time, "also the host's time in a warm tw_matmul");
  app.add_option("--json", request.json, "also write everything there");
  app.add_option("--table", request.table, "also write a table in Markdown there");
  app.add_option("--csv", request.csv, "also write a line for each kernel there, shape by shape");
  app.add_option("--roofline", request.roofline, "also draw a roofline there, as SVG");
  app.add_flag("--row-major-scales", request.row_major_scales,
               "blockwise: our scales of A lie row by row, the peer's column by column");
}

Status read_shapes(Request& request, Suite& suite) {
  if (request.family != "matmul" && request.family != "blockwise") {
    return Status::refused("There is no family '" + request.family +
                           "' to measure; there are matmul, blockwise, conv2d and grouped.");
  }
  // family blockwise: begin
  if (request.family == "blockwise") {
    if (request.type.empty()) request.type = "e4m3";
    if (request.type != "e4m3") {
      return Status::refused("--type is " + request.type + ", but blockwise is measured in e4m3.");
    }
  }
  // family blockwise: end
  if (request.regret && !request.own.asks_the_library()) {
    return Status::refused(
        "--regret is of the library's choice, but --instances, --candidates or --by-model asks for "
        "another.");
  }
  if (request.peers != "cublaslt" && request.peers != "none") {
    return Status::refused("There is no peer '" + request.peers + "'; there is cublaslt.");
  }
  if (!request.suite.empty()) {
    const Status status = read_suite(suite, "matmul", request.suite);
    if (!status.is_good()) return status;
  }
  for (const std::string& text : request.shapes) {
    const Status status = read_shape(suite.shapes.emplace_back(), text);
    if (!status.is_good()) return status;
  }
  if (request.type.empty()) request.type = suite.type.empty() ? "bf16" : suite.type;
  const auto type = tw::element_type_of(request.type);
  if (!type.has_value() || *type == tw::ElementType::Fp32 || tw::bytes_of(*type) > 2 ||
      tw::is_integer(*type)) {
    return Status::refused("The type '" + request.type +
                           "' is not measured; bf16, fp16, e4m3 and e5m2 are.");
  }
  for (MatmulCase& shape : suite.shapes) shape.type = *type;
  if (!suite.shapes.empty() || request.host_time) return Status::good();
  return Status::refused("There is nothing to measure: give --shape MxNxK or --suite NAME.");
}

void print_row(const MatmulCase& shape, const Measurement& kernel, const std::string& ratio) {
  if (!kernel.ran()) {
    std::printf("%-22s %-28s refused: %s\n", shape.text().c_str(), kernel.name.c_str(),
                kernel.refused.c_str());
    return;
  }
  std::printf("%-22s %-28s %10.2f %9.1f %7.2f %7s  %.2f..%.2f  %.0f MHz %.0f W\n",
              shape.text().c_str(), kernel.name.c_str(), kernel.median_us,
              tflops(shape, kernel.median_us), terabytes(shape, kernel.median_us), ratio.c_str(),
              kernel.low_us, kernel.high_us, kernel.reading.sm_mhz, kernel.reading.watts);
}

void print_rows(const ShapeResult& result) {
  if (result.peer) print_row(result.shape, *result.peer, "");
  for (const Measurement& kernel : result.own) {
    const double ratio = result.ratio(kernel);
    print_row(result.shape, kernel, ratio > 0 ? fmt::format("{:.3f}", ratio) : "");
  }
  if (result.rounded_up) {
    print_row(result.shape.rounded_up(), *result.rounded_up,
              fmt::format("/{:.3f}", result.of_rounded_up()));
  }
  if (result.compiled) {
    print_row(result.shape, *result.compiled, fmt::format("*{:.3f}", result.regret()));
  }
  std::fflush(stdout);
}

// What one shape's measurement is made of: its peer's algorithms, and ours by request.
struct Contest {
  int sets;
  std::vector<Candidate> peers;
  std::function<Status(std::vector<Candidate>&, const OwnRequest&)> own;
};

// A refusal is a measurement that did not run.
std::vector<Candidate> own_of(const Request& request, const Contest& contest, double slice) {
  std::vector<Candidate> candidates;
  const Status status = contest.own(candidates, request.own);
  if (!status.is_good()) return {{"tilewright", [status](int, void*) { return status; }}};
  if (request.each || request.own.candidates > 0) return candidates;
  return fastest(candidates, contest.sets, choosing_slice(slice));
}

// The fastest of a shortlist, to be measured once more beside the library's choice.
std::vector<Candidate> compiled_of(const Contest& contest, double slice) {
  OwnRequest shortlist;
  shortlist.candidates = shortlist_length;
  std::vector<Candidate> candidates;
  if (!contest.own(candidates, shortlist).is_good()) return {};
  return fastest(candidates, contest.sets, choosing_slice(slice));
}

ShapeResult measure(const Request& request, const MatmulCase& shape, const Contest& contest,
                    const std::vector<Candidate>& rounded_up, double slice) {
  std::vector<Candidate> chosen = fastest(contest.peers, contest.sets, choosing_slice(slice));
  const std::size_t peers = chosen.size();
  for (const Candidate& one : own_of(request, contest, slice)) chosen.push_back(one);
  const std::size_t ours = chosen.size();
  if (request.regret) {
    for (const Candidate& one : compiled_of(contest, slice)) chosen.push_back(one);
  }
  const std::size_t compiled = chosen.size();
  // The library's choice is not measured against itself.
  const bool is_same = compiled > ours && chosen[peers].name == chosen[ours].name;
  if (is_same) chosen.pop_back();
  const std::size_t with_rounded_up = chosen.size();
  for (const Candidate& one : rounded_up) chosen.push_back(one);
  const auto measured = interleave(chosen, contest.sets, request.rounds, slice);
  ShapeResult result;
  result.shape = shape;
  if (peers > 0) result.peer = measured.front();
  result.own.assign(measured.begin() + peers, measured.begin() + ours);
  if (compiled > ours) result.compiled = measured[is_same ? peers : ours];
  if (!rounded_up.empty()) result.rounded_up = measured[with_rounded_up];
  return result;
}

// family blockwise: begin
ShapeResult measure_blockwise(const Request& request, const MatmulCase& shape, double slice) {
  const MatmulBuffers buffers(shape, 1);
  const BlockwiseScales scales(shape, request.row_major_scales ? tw::Major::K : tw::Major::MN);
  const BlockwiseProblems problems = scales.problems(buffers);
  Contest contest = {buffers.sets(), {}, [&](auto& candidates, const OwnRequest& own) {
                       return described_candidates(candidates, own, problems,
                                                   launches_of(problems, dispatch_request()));
                     }};
  if (request.peers == "cublaslt") {
    contest.peers = CublasLt(buffers, request.algorithms, {scales.a(), scales.b()}).all();
  }
  return measure(request, shape, contest, {}, slice);
}

// family blockwise: end

ShapeResult measure(const Request& request, const MatmulCase& shape, double slice) {
  if (request.family == "blockwise") return measure_blockwise(request, shape, slice);
  const auto contest_in = [](const MatmulBuffers& buffers) -> Contest {
    return {buffers.sets(), {}, [&buffers](auto& candidates, const OwnRequest& own) {
              return own_candidates(candidates, own, buffers);
            }};
  };
  const MatmulBuffers buffers(shape, 1);
  Contest contest = contest_in(buffers);
  if (request.peers == "cublaslt") contest.peers = CublasLt(buffers, request.algorithms).all();
  std::optional<MatmulBuffers> larger;
  std::vector<Candidate> rounded_up;
  if (shape.compared_to > 0) {
    larger.emplace(shape.rounded_up(), 1);
    contest.sets = std::min(contest.sets, larger->sets());
    Contest of_larger = contest_in(*larger);
    of_larger.sets = contest.sets;
    rounded_up = fastest(own_of(request, of_larger, slice), contest.sets, choosing_slice(slice));
  }
  return measure(request, shape, contest, rounded_up, slice);
}

RunFacts facts_of(const Request& request, const Suite& suite, int argc, char** argv) {
  RunFacts facts = facts_of_run(argc, argv, request.family, request.type, request.rounds,
                                request.slice > 0 ? request.slice : final_slice_milliseconds);
  facts.suite = suite.file;
  return facts;
}

int run(const Request& request, const Suite& suite, RunFacts facts) {
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
  std::vector<ShapeResult> results;
  std::string csv = csv_head();
  double copy = 0;
  if (!suite.shapes.empty()) {
    copy = copy_bytes_per_second();
    std::printf("%-22s %-28s %10s %9s %7s %7s  %s\n", "m x n x k", "kernel", "us", "TFLOP/s",
                "TB/s", "ratio", "fastest..slowest round");
  }
  for (const MatmulCase& shape : suite.shapes) {
    results.push_back(measure(request, shape, facts.slice_milliseconds));
    print_rows(results.back());
    // So far: a run that is ended early has what it measured.
    csv += csv_of(facts, results.back());
    write_file(request.csv, csv);
  }
  const Summary summary = summarise(results, copy);
  if (!results.empty()) std::printf("\n%s", text_of(summary).c_str());
  write_file(request.json, json_of(facts, results, summary).dump(1) + "\n");
  write_file(request.table, markdown_of(facts, results, summary));
  write_file(request.roofline, roofline(facts, results));
  return summary.failed.empty() ? 0 : 1;
}

int run_any(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "tune") return tune_calls(argc - 1, argv + 1);
  if (argc > 1 && std::string(argv[1]) == "conv2d") return measure_conv2d(argc, argv);
  if (argc > 1 && std::string(argv[1]) == "grouped") return measure_grouped(argc, argv);
  if (argc > 1 && std::string(argv[1]) == "quantise") return measure_quantise(argc, argv);
  const std::string family = argc > 1 ? argv[1] : "";
  const bool has_peers = family == "matmul" || family == "blockwise";
  if (!has_peers && is_described(family)) return measure_alone(argc, argv);
  Request request;
  CLI::App app{"Measures kernels beside their peers, interleaved", "./tw bench"};
  add_options(app, request);
  Suite suite;
  return run_command(
      app, argc, argv, [&] { return read_shapes(request, suite); },
      [&] { return run(request, suite, facts_of(request, suite, argc, argv)); });
}

}  // namespace

int main(int argc, char** argv) {
  return tw::run_program([&] { return run_any(argc, argv); });
}
