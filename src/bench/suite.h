// The shapes of a request: from the command line, or from a file of bench/suites.
#pragma once

#include <string>
#include <vector>

#include "src/bench/case.h"
#include "tilewright/base/status.h"

namespace tw::bench {

// "MxNxK", with positive numbers.
Status read_shape(MatmulCase& shape, const std::string& text);

struct Suite {
  std::string file;
  std::string type;  // of A and B, as the file has it
  std::vector<MatmulCase> shapes;
};

// `name` is a path, or `bf16` for bench/suites/FAMILY-bf16.json.
Status read_suite(Suite& suite, const std::string& family, const std::string& name);

}  // namespace tw::bench
