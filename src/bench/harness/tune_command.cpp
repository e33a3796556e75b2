// ./tw tune: a file for TW_TUNING, of calls that are named, listed in a suite or logged.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "src/bench/harness/call.h"
#include "src/bench/harness/request.h"
#include "src/bench/harness/tune.h"
#include "src/bench/harness/tuned.h"
#include "src/dispatch/tuning.h"
#include "tilewright.h"

namespace tw::bench {

namespace {

struct Request {
  std::string family = "matmul";
  std::string type;  // empty: the suite's, or what is usual
  std::string suite;
  std::vector<std::string> shapes;
  std::vector<std::string> calls;
  std::string log;
  std::string out = "tuning.json";
  TuneSettings settings;
};

void add_options(CLI::App& app, Request& request) {
  app.add_option("family", request.family, "of --shape and --suite: matmul, blockwise or conv2d");
  app.add_option("--shape", request.shapes,
                 "MxNxK, or NxHxWxCxKxRxS[,STRIDE[,PAD[,DILATION[,GROUPS]]]]; may be repeated");
  app.add_option("--type", request.type, "of --shape and --suite: bf16, fp16, e4m3 or e5m2");
  app.add_option("--suite", request.suite, "bf16 or fp8 of bench/suites, or a JSON file of shapes");
  app.add_option("--call", request.calls, "as logs have it: 'matmul bf16 64x4096x1024'");
  app.add_option("--log", request.log, "what a program printed with TW_LOG=calls");
  app.add_option("--out", request.out, "the file that is extended")->capture_default_str();
  app.add_option("--group", request.settings.groups,
                 "also so many tiles per raster group, along m and n; may be repeated");
  app.add_option("--rounds", request.settings.rounds)->check(CLI::Range(3, 1000));
  app.add_option("--slice", request.settings.slice_milliseconds,
                 "milliseconds of a candidate in each round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("!--by-model", request.settings.by_table,
               "beside the cost model's choice, without the tables that are compiled in");
  app.add_flag("--each", request.settings.each, "show every launch that was measured twice");
}

// Adds the words of the suite and the shapes.
Status add_shapes(const Request& request, std::vector<std::string>& calls) {
  if (request.suite.empty() && request.shapes.empty()) return Status::good();
  const ShapeForm* const form = form_of(request.family);
  if (form == nullptr) {
    return Status::refused(fmt::format("There is no family '{}' with shapes.", request.family));
  }
  std::vector<MeasuredCase> cases;
  std::string file;
  CaseRequest asked;
  asked.type = request.type;
  const Status status = read_cases(cases, file, *form, request.suite, request.shapes, asked);
  for (const MeasuredCase& one : cases) {
    calls.push_back(
        fmt::format("{} {} {}", request.family, name_of(one.shape.type), shape_words(one)));
  }
  return status;
}

Status read_calls(const Request& request, std::vector<MeasuredCall>& calls) {
  std::vector<std::string> words = request.calls;
  if (Status status = add_shapes(request, words); !status.is_good()) return status;
  if (!request.log.empty()) {
    CallLog log;
    if (Status status = read_call_log(log, request.log); !status.is_good()) return status;
    words.insert(words.end(), log.calls.begin(), log.calls.end());
    if (log.others > 0) {
      std::printf(
          "%d calls of the log are of kinds that are not tuned; docs/tuning.md lists what "
          "is.\n",
          log.others);
    }
  }
  for (auto one = words.begin(); one != words.end(); ++one) {
    if (std::find(words.begin(), one, *one) != one) continue;
    const Status status = read_call(calls.emplace_back(), *one);
    if (!status.is_good()) return status;
  }
  if (!calls.empty()) return Status::good();
  return Status::refused("There is nothing to tune: give --shape, --suite, --call or --log.");
}

int run(const Request& request, const std::vector<MeasuredCall>& calls, const RunFacts& facts) {
  if (const std::string why = unwritable({request.out}); !why.empty()) return refuse(why);
  MeasuredTable table;
  if (std::filesystem::file_size(request.out) > 0) {
    Status status = read_table(table, request.out);
    if (status.is_good()) status = check_table(table, request.out, tw_version(), facts.device);
    if (!status.is_good()) return refuse(status.sentence());
  }
  table.version = tw_version();
  table.device = facts.device;
  table.driver = facts.driver;
  table.date = facts.date;
  const std::vector<MeasuredLaunch> found = tune(calls, request.settings);
  std::vector<std::string> words;
  for (const MeasuredCall& call : calls) words.push_back(call.words);
  update(table, words, found);
  if (Status status = write_table(table, request.out); !status.is_good()) {
    return refuse(status.sentence());
  }
  std::printf(
      "\n%zu of %zu calls have a launch that beats the usual one by more than %.0f %% in both "
      "passes; %s has %zu. TW_TUNING=%s makes the library take them.\n",
      found.size(), calls.size(), 100 * (gain_to_keep - 1), request.out.c_str(),
      table.launches.size(), request.out.c_str());
  return 0;
}

}  // namespace

int tune_calls(int argc, char** argv) {
  Request request;
  CLI::App app{
      "Measures launches of the library's kernels for given calls, interleaved, and keeps "
      "those that beat its choice",
      "./tw tune"};
  add_options(app, request);
  std::vector<MeasuredCall> calls;
  return run_command(
      app, argc, argv, [&] { return read_calls(request, calls); },
      [&] {
        return run(request, calls,
                   facts_of_run(argc, argv, request.family, request.type, request.settings.rounds,
                                request.settings.slice_milliseconds));
      });
}

}  // namespace tw::bench
