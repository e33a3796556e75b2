#include "src/bench/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "src/bench/conv2d_suite.h"
#include "src/bench/suite.h"
#include "src/dispatch/call.h"
#include "src/matmul/names.h"

namespace tw::bench {

namespace {

// Of operands: those that the measurements' buffers are filled with.
bool is_measured(const std::string& family, ElementType type) {
  using enum ElementType;
  const bool is_16_bit = type == Bf16 || type == Fp16;
  if (family == "matmul") return is_16_bit || type == E4m3 || type == E5m2;
  return family == "blockwise" ? type == E4m3 : family == "conv2d" && is_16_bit;
}

// family conv2d: begin
std::string words_of(const Conv2dCase& shape) { return call_of(shape.problem()); }
// family conv2d: end

}  // namespace

Status read_call(MeasuredCall& call, const std::string& words) {
  call = {};
  std::istringstream stream(words);
  std::string type, shape, more;
  stream >> call.family >> type >> shape;
  if (shape.empty() || stream >> more) {
    return Status::refused(
        fmt::format("The call '{}' is not a family, a type and a shape, as in 'matmul bf16 "
                    "64x4096x1024'.",
                    words));
  }
  const auto element = element_type_of(type);
  if (!element.has_value() || !is_measured(call.family, *element)) {
    return Status::refused(
        fmt::format("The call '{}' is not measured: there are matmul in bf16, fp16, e4m3 and e5m2, "
                    "blockwise in e4m3, and conv2d in bf16 and fp16.",
                    words));
  }
  // family conv2d: begin
  if (call.family == "conv2d") {
    const Status status = read_conv2d_shape(call.convolution, shape);
    call.convolution.type = *element;
    call.words = words_of(call.convolution);
    return status;
  }
  // family conv2d: end
  const Status status = read_shape(call.product, shape);
  call.product.type = *element;
  call.words = fmt::format("{} {} {}x{}x{}", call.family, type, call.product.m, call.product.n,
                           call.product.k);
  return status;
}

// family conv2d: begin
std::string shape_words(const Conv2dCase& shape) {
  const std::string words = words_of(shape);
  return words.substr(words.rfind(' ') + 1);
}
// family conv2d: end

Status read_call_log(CallLog& log, const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::refused(fmt::format("The log '{}' cannot be read.", path));
  const std::string prefix = call_prefix;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("./tw run ")) ++log.others;
    if (!line.starts_with(prefix)) continue;
    const std::string call = line.substr(prefix.size());
    if (std::find(log.calls.begin(), log.calls.end(), call) == log.calls.end()) {
      log.calls.push_back(call);
    }
  }
  if (!log.calls.empty()) return Status::good();
  return Status::refused(fmt::format(
      "The log '{}' has no call that can be tuned: TW_LOG=calls prints lines that begin "
      "with '{}'.",
      path, prefix));
}

}  // namespace tw::bench
