// ./tw bench: our kernels beside their peers, interleaved in one run.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/bench/cublaslt.h"
#include "src/dispatch/choose.h"
#include "src/matmul/gpu.h"
#include "src/matmul/names.h"
#include "src/matmul/task.h"

namespace {

using tw::bench::Candidate;
using tw::bench::MatmulCase;
using tw::bench::Measurement;

struct Request {
  std::string family;
  std::string suite;
  std::vector<std::string> shapes;
  std::string peers = "cublaslt";
  std::string type;         // empty: the suite's, or bf16
  std::string instances;    // comma-separated parts of names; empty: what a plain call would take
  std::vector<int> groups;  // empty: what the plan chooses
  bool by_table = true;
  int rounds = 11;
  int algorithms = 16;
  std::string json;
};

int refuse(const std::string& sentence) {
  std::fprintf(stderr, "tw: %s\n", sentence.c_str());
  return 2;
}

bool read_shapes(Request& request, std::vector<MatmulCase>& shapes, std::string& why) {
  for (const std::string& text : request.shapes) {
    MatmulCase shape;
    char rest;
    if (std::sscanf(text.c_str(), "%ldx%ldx%ld%c", &shape.m, &shape.n, &shape.k, &rest) != 3 ||
        shape.m < 1 || shape.n < 1 || shape.k < 1) {
      why = "The shape '" + text + "' is not of the form MxNxK with positive numbers.";
      return false;
    }
    shapes.push_back(shape);
  }
  if (!request.suite.empty()) {
    std::ifstream file(request.suite);
    const nlohmann::json suite = nlohmann::json::parse(file, nullptr, false);
    if (suite.is_discarded() || !suite.contains("shapes")) {
      why = "The suite '" + request.suite + "' cannot be read, or has no \"shapes\".";
      return false;
    }
    if (request.type.empty()) request.type = suite.value("a", "bf16");
    for (const auto& entry : suite["shapes"]) {
      if (!entry.contains("m") || !entry.contains("n") || !entry.contains("k")) {
        why = "The suite '" + request.suite +
              "' has a shape without m, n and k: it is not of matmul.";
        return false;
      }
      shapes.push_back({entry.at("m"), entry.at("n"), entry.at("k")});
    }
  }
  if (request.type.empty()) request.type = "bf16";
  const auto type = tw::element_type_of(request.type);
  if (!type.has_value() || *type == tw::ElementType::Fp32 || tw::bytes_of(*type) > 2 ||
      tw::is_integer(*type)) {
    why = "The type '" + request.type + "' is not measured; bf16, fp16, e4m3 and e5m2 are.";
    return false;
  }
  for (MatmulCase& shape : shapes) shape.type = *type;
  if (shapes.empty()) why = "There is nothing to measure: give --shape MxNxK or --suite FILE.";
  return !shapes.empty();
}

bool wanted(const std::string& filter, const std::string& name) {
  std::stringstream parts(filter);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part == "all" || name.find(part) != std::string::npos) return true;
  }
  return false;
}

std::string name_of(const tw::Choice& choice) {
  std::string name = choice.instance->name;
  const tw::MatmulOrder& order = choice.order;
  if (order.split_k > 1) name += " /" + std::to_string(order.split_k);
  if (order.group != 0) {
    name += (order.raster == tw::Raster::AlongM ? " m" : " n") + std::to_string(order.group);
  }
  return name;
}

// What the library would take, or all launches of the wanted instances.
std::vector<tw::Choice> own_choices(const Request& request, const tw::MatmulProblem& problem,
                                    std::string& why) {
  const tw::DispatchRequest dispatch = {.by_table = request.by_table};
  if (request.instances.empty()) {
    tw::Choice choice;
    const tw::Status status = tw::choose(choice, problem, dispatch, nullptr);
    if (!status.is_good()) why = status.sentence();
    return status.is_good() ? std::vector{choice} : std::vector<tw::Choice>{};
  }
  std::vector<tw::Choice> choices;
  for (const tw::Choice& candidate : tw::candidates(problem, dispatch, nullptr)) {
    if (!wanted(request.instances, candidate.instance->name)) continue;
    if (request.groups.empty()) choices.push_back(candidate);
    for (const int group : request.groups) {
      for (const tw::Raster raster : {tw::Raster::AlongM, tw::Raster::AlongN}) {
        choices.push_back(candidate);
        choices.back().order.group = group;
        choices.back().order.raster = raster;
      }
    }
  }
  if (choices.empty()) {
    why = "No instance that computes this has a name with '" + request.instances + "'.";
  }
  return choices;
}

Candidate candidate_of(const tw::Choice& choice, const tw::bench::MatmulBuffers& buffers) {
  std::size_t bytes = 0;  // a refusal comes again, with its sentence, from the launch
  (void)choice.instance->workspace(bytes, buffers.problem(0), choice.order);
  const auto memory = std::make_shared<tw::bench::DeviceWorkspace>(bytes);
  return {name_of(choice), [choice, &buffers, memory](int set, void* stream) {
            return choice.instance->launch(buffers.problem(set), choice.order, memory->workspace,
                                           tw::TraceBuffer{}, stream);
          }};
}

// Which of the candidates is fastest, in a pass of its own: the final rounds are then no lottery.
std::vector<Candidate> fastest(const std::vector<Candidate>& candidates, int sets) {
  if (candidates.empty()) return {};
  const auto results = interleave(candidates, sets, 3, tw::bench::choosing_slice_milliseconds);
  const Measurement* best = nullptr;
  for (const Measurement& result : results) {
    if (result.refused.empty() && (best == nullptr || result.median_us < best->median_us)) {
      best = &result;
    }
  }
  // Where none runs, the first stands for all and says why.
  return {candidates[best == nullptr ? 0 : best - results.data()]};
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  CLI::App app{"Measures kernels beside their peers, interleaved", "./tw bench"};
  app.add_option("family", request.family, "matmul")->required();
  app.add_option("--suite", request.suite,
                 "a JSON file of shapes, e.g. bench/suites/matmul-bf16.json");
  app.add_option("--shape", request.shapes, "MxNxK; may be repeated");
  app.add_option("--type", request.type, "of A and B: bf16, fp16, e4m3 or e5m2");
  app.add_option("--peers", request.peers, "cublaslt or none");
  app.add_option(
      "--instances", request.instances,
      "the fastest of the instances whose name contains one of these, or all; empty: what the "
      "library takes");
  app.add_flag("!--by-model", request.by_table, "without the table of measured exceptions");
  app.add_option("--group", request.groups,
                 "tiles per raster group, along m and n; may be repeated");
  app.add_option("--rounds", request.rounds)->check(CLI::Range(3, 1000));
  app.add_option("--json", request.json, "also write the results there");
  double slice = tw::bench::final_slice_milliseconds;
  app.add_option("--slice", slice, "milliseconds of a candidate in each round")
      ->check(CLI::Range(1, 1000));
  bool each = false;
  app.add_flag("--each", each, "show every instance, not only the fastest");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
  if (request.family != "matmul")
    return refuse("There is no family '" + request.family + "' to measure; there is matmul.");
  if (request.peers != "cublaslt" && request.peers != "none") {
    return refuse("There is no peer '" + request.peers + "'; there is cublaslt.");
  }
  std::vector<MatmulCase> shapes;
  std::string why;
  if (!read_shapes(request, shapes, why)) return refuse(why);
  if (why = tw::why_no_gpu(); !why.empty()) return refuse("Measuring needs the GPU. " + why);

  nlohmann::json report = {{"family", request.family}, {"results", nlohmann::json::array()}};
  const auto device = tw::bench::device_state();
  report["device"] = device.name;
  report["driver"] = device.driver;
  std::printf("%-22s %-28s %10s %9s %9s  %s\n", "m x n x k", "kernel", "us", "TFLOP/s", "ratio",
              "fastest..slowest round");
  for (const MatmulCase& shape : shapes) {
    tw::bench::MatmulBuffers buffers(shape, 1);
    std::vector<Candidate> chosen;
    if (request.peers == "cublaslt") {
      chosen = fastest(tw::bench::CublasLt(buffers, request.algorithms).all(), buffers.sets());
    }
    const std::size_t peers = chosen.size();
    std::vector<Candidate> own;
    for (const tw::Choice& choice : own_choices(request, buffers.problem(0), why)) {
      own.push_back(candidate_of(choice, buffers));
    }
    if (own.empty()) return refuse(why);
    if (!each) own = fastest(own, buffers.sets());
    chosen.insert(chosen.end(), own.begin(), own.end());
    const auto results = interleave(chosen, buffers.sets(), request.rounds, slice);
    const std::string clocks = tw::bench::device_state().clocks;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Measurement& result = results[i];
      const std::string name = std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " +
                               std::to_string(shape.k);
      if (!result.refused.empty()) {
        std::printf("%-22s %-28s refused: %s\n", name.c_str(), result.name.c_str(),
                    result.refused.c_str());
        continue;
      }
      const double tflops = 1e-6 * shape.flops() / result.median_us;
      const double ratio = peers > 0 ? results[0].median_us / result.median_us : 1.0;
      std::printf("%-22s %-28s %10.2f %9.1f %9.3f  %.2f..%.2f\n", name.c_str(), result.name.c_str(),
                  result.median_us, tflops, ratio, result.low_us, result.high_us);
      report["results"].push_back({{"m", shape.m},
                                   {"n", shape.n},
                                   {"k", shape.k},
                                   {"kernel", result.name},
                                   {"us", result.median_us},
                                   {"low_us", result.low_us},
                                   {"high_us", result.high_us},
                                   {"tflops", tflops},
                                   {"ratio", ratio},
                                   {"clocks", clocks}});
    }
    std::fflush(stdout);
  }
  if (!request.json.empty()) {
    std::ofstream file(request.json);
    file << report.dump(1) << "\n";
    file.close();
    if (!file) return refuse("The file '" + request.json + "' cannot be written.");
  }
  return 0;
}
