// What run, check and trace ask of matmul, as options of the command line.
#pragma once

#include "src/cli/product_request.h"
#include "src/matmul/task.h"

namespace tw::cli {

// Empty strings leave a choice to the instance, or to what is usual.
struct MatmulRequest : ProductRequest {
  std::string family;
  std::string arch;
  std::string a_type;
  std::string b_type;
  std::string d_type;
  std::string layout;
  std::string instance;
  std::string cluster;
  std::string consumers;
  std::string tile;
  OrderRequest order;
  std::uint64_t seed = 1;
  std::string data = "integers";

  void add_options(CLI::App& command);
  // What the options mean, or a sentence that says which value is wrong.
  Result<MatmulTask> resolve(Tracing tracing) const;
};

// --on: gpu, virtual, or empty for the GPU when there is one that runs the instance. A sentence
// where that cannot be.
void add_on_option(CLI::App& command, std::string& on);
Result<bool> runs_on_gpu(const std::string& on, const Instance& instance);

}  // namespace tw::cli
