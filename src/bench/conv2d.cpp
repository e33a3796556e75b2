// ./tw bench conv2d: our convolutions beside cuDNN's, alone and with an epilogue.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/bench/conv2d_own.h"
#include "src/bench/conv2d_report.h"
#include "src/bench/conv2d_suite.h"
#include "src/bench/cudnn.h"
#include "src/bench/device.h"
#include "src/bench/request.h"
#include "src/matmul/names.h"

namespace tw::bench {

namespace {

struct Request {
  std::string family;
  std::string suite;
  std::vector<std::string> shapes;
  std::string type;  // empty: the suite's, or bf16
  std::string peers = "cudnn";
  OwnRequest own;
  std::string epilogue = "bias,residual,relu";
  bool each = false;
  bool regret = false;
  int rounds = 11;
  int plans = 40;
  double slice = final_slice_milliseconds;
  std::string json;
  std::string table;

  Conv2dEpilogue nodes;
};

void add_options(CLI::App& app, Request& request) {
  app.add_option("family", request.family, "conv2d")->required();
  app.add_option("--suite", request.suite,
                 "bf16 or depthwise of bench/suites, or a JSON file of shapes");
  app.add_option("--shape", request.shapes,
                 "NxHxWxCxKxRxS[,STRIDE[,PAD[,DILATION[,GROUPS]]]]; may be repeated");
  app.add_option("--type", request.type, "of everything: bf16 or fp16");
  app.add_option("--peers", request.peers, "cudnn or none");
  app.add_option("--instances", request.own.instances,
                 "the fastest of the instances whose name contains one of these, or all; without "
                 "it the library's C interface is measured");
  app.add_option("--candidates", request.own.candidates,
                 "instead: each of about so many launches, by the cost model and of every kind")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--regret", request.regret,
               "also the fastest launch of a shortlist, beside the library's choice");
  app.add_option("--epilogue", request.epilogue,
                 "comma-separated bias, residual, relu; none: convolutions alone");
  app.add_option("--rounds", request.rounds)->check(CLI::Range(3, 1000));
  app.add_option("--plans", request.plans, "so many of cuDNN's plans are tried, at most")
      ->check(CLI::Range(1, 1000));
  app.add_option("--slice", request.slice, "milliseconds of a candidate in each round")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--each", request.each, "show every instance, not only the fastest");
  app.add_option("--json", request.json, "also write everything there");
  app.add_option("--table", request.table, "also write a table in Markdown there");
}

Status read(Request& request, Conv2dSuite& suite) {
  if (request.peers != "cudnn" && request.peers != "none") {
    return Status::refused("There is no peer '" + request.peers + "'; there is cudnn.");
  }
  if (request.regret && !request.own.asks_the_library()) {
    return Status::refused(
        "--regret is of the library's choice, but --instances or --candidates asks for another.");
  }
  std::stringstream words(request.epilogue == "none" ? "" : request.epilogue);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "bias") {
      request.nodes.bias = true;
    } else if (word == "residual") {
      request.nodes.residual = true;
    } else if (word == "relu") {
      request.nodes.relu = true;
    } else {
      return Status::refused("There is no epilogue '" + word +
                             "'; there are bias, residual and relu.");
    }
  }
  if (!request.suite.empty()) {
    const Status status = read_conv2d_suite(suite, request.suite);
    if (!status.is_good()) return status;
  }
  for (const std::string& text : request.shapes) {
    const Status status = read_conv2d_shape(suite.shapes.emplace_back(), text);
    if (!status.is_good()) return status;
  }
  if (request.type.empty()) request.type = suite.type.empty() ? "bf16" : suite.type;
  if (request.type != "bf16" && request.type != "fp16") {
    return Status::refused("The type '" + request.type + "' is not measured; bf16 and fp16 are.");
  }
  for (Conv2dCase& shape : suite.shapes) shape.type = *element_type_of(request.type);
  if (!suite.shapes.empty()) return Status::good();
  return Status::refused(
      "There is nothing to measure: give --shape NxHxWxCxKxRxS or --suite NAME.");
}

// Candidates of one shape, with what they are.
struct Chosen {
  std::vector<Candidate> candidates;
  std::vector<Conv2dRole> roles;
  void add(Conv2dRole role, const std::vector<Candidate>& of_role) {
    for (const Candidate& one : of_role) {
      candidates.push_back(one);
      roles.push_back(role);
    }
  }
};

std::vector<Candidate> own_of(const Request& request, const Conv2dBuffers& buffers,
                              const Conv2dEpilogue& epilogue) {
  std::vector<Candidate> candidates;
  const Status status = own_convolutions(candidates, request.own, buffers, epilogue);
  if (!status.is_good()) return {{"tilewright", [status](int, void*) { return status; }}};
  if (request.each || request.own.candidates > 0) return candidates;
  return fastest(candidates, buffers.sets(), choosing_slice(request.slice));
}

// The fastest of a shortlist, to be measured once more beside the library's choice.
std::vector<Candidate> compiled_of(const Request& request, const Conv2dBuffers& buffers) {
  OwnRequest shortlist;
  shortlist.candidates = shortlist_length;
  std::vector<Candidate> candidates;
  if (!own_convolutions(candidates, shortlist, buffers, {}).is_good()) return {};
  return fastest(candidates, buffers.sets(), choosing_slice(request.slice));
}

// Everything of one shape that computes the same must agree, but for rounding: what is measured is
// then what was meant.
void compare_outputs(Conv2dResult& result, const Chosen& chosen, const Conv2dBuffers& buffers) {
  constexpr double tolerance = 0.01;  // of the norm
  std::vector<float> expected[2];
  for (std::size_t i = 0; i < chosen.candidates.size(); ++i) {
    if (!result.rows[i].kernel.ran()) continue;
    const Candidate& candidate = chosen.candidates[i];
    (void)buffers.take_output(0);
    if (!candidate.launch(0, nullptr).is_good()) continue;
    const std::vector<float> values = buffers.take_output(0);
    const Conv2dRole role = chosen.roles[i];
    const bool plain =
        role == Conv2dRole::Own || role == Conv2dRole::Peer || role == Conv2dRole::Compiled;
    std::vector<float>& first = expected[plain ? 0 : 1];
    if (first.empty()) first = values;
    double difference = 0, norm = 0;
    for (std::size_t j = 0; j < values.size(); ++j) {
      difference += std::pow(double(values[j]) - first[j], 2);
      norm += double(first[j]) * first[j];
    }
    if (difference <= tolerance * tolerance * norm) continue;
    result.wrong = true;
    result.notes.push_back(fmt::format("{}: the output of {} differs by {:.3g} of its norm.",
                                       name_of(chosen.roles[i]), candidate.name,
                                       std::sqrt(difference / norm)));
  }
}

Conv2dResult measure(const Request& request, const Conv2dCase& shape) {
  const Conv2dBuffers buffers(shape, 1);
  const int sets = buffers.sets();
  const bool with_epilogue = request.nodes.bias || request.nodes.residual || request.nodes.relu;
  Conv2dResult result;
  result.shape = shape;
  Chosen chosen;
  if (request.peers == "cudnn") {
    const Cudnn cudnn(buffers, request.plans);
    const auto of_peer = [&](Conv2dRole role, const Conv2dEpilogue& epilogue) {
      std::string why;
      const auto best = fastest(cudnn.fused(epilogue, why), sets, choosing_slice(request.slice));
      if (!why.empty()) result.notes.push_back(std::string(name_of(role)) + ": " + why);
      chosen.add(role, best);
      return best;
    };
    const auto plain = of_peer(Conv2dRole::Peer, {});
    if (with_epilogue) {
      of_peer(Conv2dRole::PeerFused, request.nodes);
      for (const Candidate& one : plain) {
        chosen.add(Conv2dRole::PeerThenKernel, {then_finish(one, buffers, request.nodes)});
      }
    }
  }
  const auto own = own_of(request, buffers, {});
  chosen.add(Conv2dRole::Own, own);
  bool is_fastest = false;
  if (request.regret) {
    const auto compiled = compiled_of(request, buffers);
    is_fastest = !compiled.empty() && compiled.front().name == own.front().name;
    if (!is_fastest) chosen.add(Conv2dRole::Compiled, compiled);
  }
  if (with_epilogue) {
    chosen.add(Conv2dRole::OwnEpilogue, own_of(request, buffers, request.nodes));
  }
  const auto measured = interleave(chosen.candidates, sets, request.rounds, request.slice);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    result.rows.push_back({chosen.roles[i], measured[i]});
  }
  compare_outputs(result, chosen, buffers);
  // The library's choice is not measured against itself.
  const Measurement* chosen_one = result.fastest(Conv2dRole::Own);
  if (is_fastest && chosen_one != nullptr) {
    result.rows.push_back({Conv2dRole::Compiled, Measurement(*chosen_one)});
  }
  return result;
}

void print(const Conv2dResult& result) {
  const auto base = [](Conv2dRole role) {
    return role == Conv2dRole::Own ? Conv2dRole::Peer : Conv2dRole::PeerFused;
  };
  for (const auto& [role, kernel] : result.rows) {
    const std::string shape = result.shape.text();
    if (!kernel.ran()) {
      std::printf("%-30s %-34s %s refused: %s\n", shape.c_str(), name_of(role), kernel.name.c_str(),
                  kernel.refused.c_str());
      continue;
    }
    std::string ratio;
    const Measurement* peer = result.fastest(base(role));
    if ((role == Conv2dRole::Own || role == Conv2dRole::OwnEpilogue) && peer != nullptr) {
      ratio = fmt::format("{:.3f}", peer->median_us / kernel.median_us);
    }
    std::printf("%-30s %-34s %9.2f us %7.1f TFLOP/s %6s  %.2f..%.2f  %.0f MHz %.0f W  %s\n",
                shape.c_str(), name_of(role), kernel.median_us,
                1e-6 * result.shape.flops() / kernel.median_us, ratio.c_str(), kernel.low_us,
                kernel.high_us, kernel.reading.sm_mhz, kernel.reading.watts, kernel.name.c_str());
  }
  for (const std::string& note : result.notes) std::printf("  %s\n", note.c_str());
  std::fflush(stdout);
}

int run(const Request& request, const Conv2dSuite& suite, RunFacts facts) {
  if (const std::string why = unwritable({request.json, request.table}); !why.empty()) {
    return refuse(why);
  }
  if (request.peers == "cudnn") {
    const std::string version = Cudnn::version();
    if (!version.empty()) facts.driver += ", cuDNN " + version;
  }
  const double copy = copy_bytes_per_second();
  std::vector<Conv2dResult> results;
  for (const Conv2dCase& shape : suite.shapes) {
    results.push_back(measure(request, shape));
    print(results.back());
    // So far: a run that is ended early has what it measured.
    const Conv2dSummary summary = summarise(results, copy);
    write_file(request.json, json_of(facts, results, summary).dump(1) + "\n");
    write_file(request.table, markdown_of(facts, results, summary));
  }
  const Conv2dSummary summary = summarise(results, copy);
  std::printf("\n%s", text_of(summary).c_str());
  return summary.failed.empty() ? 0 : 1;
}

}  // namespace

int measure_conv2d(int argc, char** argv) {
  Request request;
  CLI::App app{"Measures convolutions beside cuDNN, interleaved", "./tw bench"};
  add_options(app, request);
  Conv2dSuite suite;
  return run_command(
      app, argc, argv, [&] { return read(request, suite); },
      [&] {
        RunFacts facts =
            facts_of_run(argc, argv, "conv2d", request.type, request.rounds, request.slice);
        facts.suite = suite.file;
        return run(request, suite, facts);
      });
}

}  // namespace tw::bench
