#include "src/bench/harness/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "src/bench/peers/peer_library.h"
#include "src/bench/peers/peers.h"

namespace tw::bench {

void add_measuring_options(CLI::App& app, BenchRequest& request) {
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

void add_options(CLI::App& app, BenchRequest& request, const ShapeForm& form) {
  std::vector<std::string> types;
  for (const ElementType type : form.types) types.push_back(name_of(type));
  app.add_option("family", request.family, form.description->meaning)->required();
  app.add_option("--suite", request.suite, "a name of bench/suites, or a JSON file of shapes");
  app.add_option("--shape", request.shapes, form.text() + "; may be repeated");
  app.add_option("--type", request.what.type,
                 fmt::format("of operands: {}", fmt::join(types, ", ")));
  app.add_option("--peers", request.peers, fmt::format("{} or none", form.peer));
  app.add_option(
      "--peer-library", request.peer_library,
      "grouped, blockwise, attention: a shared library whose tw_peer_FAMILY takes the peer's "
      "place");
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
  app.add_option("--plan-seconds", request.plan_seconds, "cuDNN: as long plans of a shape are made")
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

namespace {

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

}  // namespace

Status read_request(BenchRequest& request, std::vector<MeasuredCase>& cases, std::string& file,
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
  if (!request.peer_library.empty()) {
    const char* const family = form.description->name;
    if (!takes_peer_function(family)) {
      return Status::refused(
          fmt::format("--peer-library is of grouped, blockwise and attention, not of {}.", family));
    }
    Status found = find_peer_function(request.peer_function, request.peer_library, family);
    if (!found.is_good()) return found;
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
        fmt::format("{} is no single product: there is no --epilogue, --roofline or --candidates.",
                    form.description->name));
  }
  request.what.column_scales = request.scales == "column";
  if (request.host_time && request.suite.empty() && request.shapes.empty()) return Status::good();
  return read_cases(cases, file, form, request.suite, request.shapes, request.what);
}

}  // namespace tw::bench
