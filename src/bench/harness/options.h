// The options of ./tw bench.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "src/bench/harness/case.h"
#include "src/bench/harness/forms.h"
#include "src/bench/harness/own.h"

namespace tw::bench {

struct BenchRequest {
  std::string family;
  std::string suite;
  std::vector<std::string> shapes;
  CaseRequest what;
  std::string scales = "row";
  std::string peers;         // empty: the family's
  std::string peer_library;  // a file whose function takes the peer's place; empty: none
  void* peer_function = nullptr;
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
void add_measuring_options(CLI::App& app, BenchRequest& request);
// All options of a family with shapes and peers.
void add_options(CLI::App& app, BenchRequest& request, const ShapeForm& form);

// Completes the request and reads the shapes that it asks for; `file` is the suite's.
Status read_request(BenchRequest& request, std::vector<MeasuredCase>& cases, std::string& file,
                    const ShapeForm& form);

}  // namespace tw::bench
