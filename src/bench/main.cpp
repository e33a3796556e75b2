// ./tw bench: our kernels beside their peers, interleaved in one run.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/bench/measure.h"
#include "src/matmul/gpu.h"
#include "src/matmul/task.h"

namespace {

using tw::bench::Candidate;
using tw::bench::Measurement;

struct Shape {
  std::int64_t m, n, k;
};

struct Request {
  std::string family;
  std::string suite;
  std::vector<std::string> shapes;
  std::string peers = "cublaslt";
  std::string instances;    // comma-separated parts of names; empty: what a plain call would take
  std::vector<int> groups;  // empty: what the plan chooses
  int rounds = 11;
  int algorithms = 16;
  std::string json;
};

int refuse(const std::string& sentence) {
  std::fprintf(stderr, "tw: %s\n", sentence.c_str());
  return 2;
}

bool read_shapes(const Request& request, std::vector<Shape>& shapes, std::string& why) {
  for (const std::string& text : request.shapes) {
    Shape shape;
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
    for (const auto& entry : suite["shapes"]) {
      if (!entry.contains("m") || !entry.contains("n") || !entry.contains("k")) {
        why = "The suite '" + request.suite +
              "' has a shape without m, n and k: it is not of matmul.";
        return false;
      }
      shapes.push_back({entry.at("m"), entry.at("n"), entry.at("k")});
    }
  }
  if (shapes.empty()) why = "There is nothing to measure: give --shape MxNxK or --suite FILE.";
  return !shapes.empty();
}

// What is measured: bf16 by bf16 into bf16, both operands K-major.
bool measurable(const tw::MatmulInstance& instance) {
  return instance.config.tracing == tw::Tracing::Off && instance.config.split == tw::Split::Whole &&
         tw::serves(instance, tw::MatmulShape{}, tw::MatmulOrder{}).is_good() &&
         tw::why_not_on_gpu(instance).empty();
}

bool wanted(const std::string& filter, const tw::MatmulInstance& instance) {
  if (!measurable(instance)) return false;
  if (filter.empty()) {
    for (const tw::MatmulInstance& first : tw::matmul_instances()) {
      if (measurable(first)) return &instance == &first;
    }
  }
  std::stringstream parts(filter);
  for (std::string part; std::getline(parts, part, ',');) {
    if (std::string(instance.name).find(part) != std::string::npos) return true;
  }
  return false;
}

std::vector<Candidate> own_candidates(const Request& request,
                                      const tw::bench::MatmulBuffers& buffers) {
  std::vector<tw::MatmulOrder> orders = {tw::MatmulOrder{}};
  if (!request.groups.empty()) orders.clear();
  for (const int group : request.groups) {
    for (const tw::Raster raster : {tw::Raster::AlongM, tw::Raster::AlongN}) {
      orders.push_back({.group = group, .raster = raster});
    }
  }
  std::vector<Candidate> candidates;
  for (const tw::MatmulInstance& instance : tw::matmul_instances()) {
    if (!wanted(request.instances, instance)) continue;
    for (const tw::MatmulOrder& order : orders) {
      const std::string suffix =
          order.group == 0
              ? ""
              : (order.raster == tw::Raster::AlongM ? " m" : " n") + std::to_string(order.group);
      std::size_t bytes = 0;  // a refusal comes again, with its sentence, from the launch
      (void)instance.workspace(bytes, buffers.problem(0), order);
      const auto memory = std::make_shared<tw::bench::DeviceWorkspace>(bytes);
      candidates.push_back(
          {instance.name + suffix, [&instance, &buffers, order, memory](int set, void* stream) {
             return instance.launch(buffers.problem(set), order, memory->workspace,
                                    tw::TraceBuffer{}, stream);
           }});
    }
  }
  return candidates;
}

// Which of the candidates is fastest, in a pass of its own: the final rounds are then no lottery.
std::vector<Candidate> fastest(const std::vector<Candidate>& candidates, int sets) {
  if (candidates.empty()) return {};
  const auto results = interleave(candidates, sets, 3);
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
  app.add_option("--peers", request.peers, "cublaslt or none");
  app.add_option(
      "--instances", request.instances,
      "the fastest of the instances whose name contains one of these; empty: the default");
  app.add_option("--group", request.groups,
                 "tiles per raster group, along m and n; may be repeated");
  app.add_option("--rounds", request.rounds)->check(CLI::Range(3, 1000));
  app.add_option("--json", request.json, "also write the results there");
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
  std::vector<Shape> shapes;
  std::string why;
  if (!read_shapes(request, shapes, why)) return refuse(why);
  if (why = tw::why_no_gpu(); !why.empty()) return refuse("Measuring needs the GPU. " + why);

  nlohmann::json report = {{"family", request.family}, {"results", nlohmann::json::array()}};
  const auto device = tw::bench::device_state();
  report["device"] = device.name;
  report["driver"] = device.driver;
  std::printf("%-22s %-28s %10s %9s %9s  %s\n", "m x n x k", "kernel", "us", "TFLOP/s", "ratio",
              "fastest..slowest round");
  for (const Shape& shape : shapes) {
    tw::bench::MatmulBuffers buffers(shape.m, shape.n, shape.k, 1);
    std::vector<Candidate> chosen;
    if (request.peers == "cublaslt") {
      chosen = fastest(tw::bench::CublasLt(buffers, request.algorithms).all(), buffers.sets());
    }
    const std::size_t peers = chosen.size();
    auto own = own_candidates(request, buffers);
    if (own.empty()) return refuse("No instance's name contains '" + request.instances + "'.");
    if (!each) own = fastest(own, buffers.sets());
    chosen.insert(chosen.end(), own.begin(), own.end());
    const auto results = interleave(chosen, buffers.sets(), request.rounds);
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
      const double tflops = 2e-6 * shape.m * shape.n * shape.k / result.median_us;
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
