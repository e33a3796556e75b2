// The loop of a fuzzer: random cases until the time is over, or so many; a failure is shrunk to one
// line.
#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/fuzz_case.h"

namespace tw::cli {

struct FuzzRequest {
  double minutes = 1.0;
  std::uint64_t problems = 0;  // that run, in turns of all instances; 0: as many as the time takes
  std::uint64_t seed = 0;      // 0: another one each time
  std::string on;
  std::string arch;
  std::string instance;
  std::string corpus;  // empty: failures are only printed
  bool json = false;

  void add_options(CLI::App& command);
  // Whether it runs on the GPU, or why it cannot run where it was asked to.
  Result<bool> place() const;
  // Where a case is written down while it runs on a GPU.
  std::string running() const { return (corpus.empty() ? "fuzz" : corpus) + ".running"; }
};

void fuzz_cases(const FuzzRequest& request, bool on_gpu, std::vector<CaseMaker> makers,
                Verdict& verdict);

}  // namespace tw::cli
