// The calls that ./tw tune measures, in the words of src/dispatch/measured.h.
#pragma once

#include <string>
#include <vector>

#include "src/bench/harness/case.h"
#include "tilewright/base/status.h"

namespace tw::bench {

struct MeasuredCall {
  std::string words;  // "matmul bf16 64x4096x1024", whatever way they were given
  MeasuredCase what;
};

// Reads "matmul bf16 64x4096x1024".
Status read_call(MeasuredCall& call, const std::string& words);

struct CallLog {
  std::vector<std::string> calls;  // each once, as they came
  int others = 0;                  // lines about calls that tables have no words for
};

// What a program printed with TW_LOG=calls; other lines are not looked at.
Status read_call_log(CallLog& log, const std::string& path);

}  // namespace tw::bench
