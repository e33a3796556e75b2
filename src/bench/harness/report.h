// Results as files: JSON with everything, a table in Markdown for bench/results.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/bench/harness/summary.h"

namespace tw::bench {

struct RunFacts {
  std::string family;
  std::string type;
  std::string suite;  // its file; empty: shapes of the command line
  std::string date;   // 2026-11-15 13:30:00 UTC
  std::string device;
  std::string driver;
  std::string commit;  // empty where there is no repository
  std::string command;
  int rounds = 0;
  double slice_milliseconds = 0;
  double host_call_us = 0;  // a warm tw_matmul, and one with a plan; 0: not measured
  double host_planned_us = 0;
};

nlohmann::json json_of(const RunFacts& facts, const std::vector<ShapeResult>& results,
                       const Summary& summary);

// Lines of a table for fits: what was measured of one shape, a kernel in each.
std::string csv_head(const RunFacts& facts);
std::string csv_of(const RunFacts& facts, const ShapeResult& result);

// Lines for a terminal, a kernel in each.
std::string text_head();
std::string text_of(const ShapeResult& result);

std::string markdown_of(const RunFacts& facts, const std::vector<ShapeResult>& results,
                        const Summary& summary);

// TFLOP/s, or TB/s of a decode product and where nothing is multiplied.
std::string rate_text(const Shape& shape, double us);

}  // namespace tw::bench
