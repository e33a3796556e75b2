// The convolutions of a request: a file of bench/suites, or the command line.
#pragma once

#include <string>
#include <vector>

#include "src/bench/conv2d_case.h"
#include "tilewright/base/status.h"

namespace tw::bench {

struct Conv2dSuite {
  std::string file;
  std::string type;
  std::vector<Conv2dCase> shapes;
};

// NxHxWxCxKxRxS, then the stride, the padding of all sides, the dilation and the groups where they
// are not 1, 0, 1 and 1: 32x56x56x64x64x3x3,2,1.
Status read_conv2d_shape(Conv2dCase& shape, const std::string& text);

// `name` is a path, or `bf16` for bench/suites/conv2d-bf16.json.
Status read_conv2d_suite(Conv2dSuite& suite, const std::string& name);

}  // namespace tw::bench
