// The calls that ./tw tune measures, in the words of src/dispatch/call.h.
#pragma once

#include <string>
#include <vector>

#include "src/bench/case.h"
#include "src/bench/conv2d_case.h"
#include "tilewright/base/status.h"

namespace tw::bench {

struct MeasuredCall {
  std::string words;   // as call_of says them, whatever way they were given
  std::string family;  // matmul, blockwise or conv2d
  MatmulCase product;  // of the first two
  // family conv2d: begin
  Conv2dCase convolution;
  // family conv2d: end
};

// Of "matmul bf16 64x4096x1024".
Status read_call(MeasuredCall& call, const std::string& words);

// family conv2d: begin
// "32x56x56x64x64x3x3,1,1", as read_conv2d_shape reads it.
std::string shape_words(const Conv2dCase& shape);
// family conv2d: end

struct CallLog {
  std::vector<std::string> calls;  // each once, as they came
  int others = 0;                  // lines about calls that tables have no words for
};

// What a program printed with TW_LOG=calls; other lines are not looked at.
Status read_call_log(CallLog& log, const std::string& path);

}  // namespace tw::bench
