#include "src/library/log.h"

#include <cstdio>
#include <cstdlib>

#include "src/instances/names.h"
#include "tilewright/launch/matmul_check.h"

namespace tw::library {

namespace {

enum class LogLevel { None, Calls, Info, Dispatch };

LogLevel level() {
  static const LogLevel asked = [] {
    const char* value = std::getenv("TW_LOG");
    const std::string word = value == nullptr ? "" : value;
    if (word == "calls") return LogLevel::Calls;
    if (word == "info") return LogLevel::Info;
    if (word == "dispatch") return LogLevel::Dispatch;
    if (!word.empty()) {
      log_line(fmt::format("tw: TW_LOG is '{}', but must be calls, info or dispatch.", word));
    }
    return LogLevel::None;
  }();
  return asked;
}

}  // namespace

MatmulShape shape_of(const MatmulProblem& problem) {
  const EpilogueArguments& given = problem.epilogue;
  MatmulShape shape;
  shape.m = problem.m;
  shape.n = problem.n;
  shape.k = problem.k;
  shape.batch = problem.batch;
  shape.a_type = problem.a.type;
  shape.b_type = problem.b.type;
  shape.d_type = problem.d.type;
  shape.a_major = problem.a.major;
  shape.b_major = problem.b.major;
  shape.shared_b = problem.batch > 1 && problem.b.batch_pitch == 0;
  const auto is_aligned = [&](const MatmulOperand& operand) {
    return problem.k == 0 || alignment_of(operand.data, operand.pitch, problem.batch,
                                          operand.batch_pitch, operand.type) == 16;
  };
  shape.unaligned = !is_aligned(problem.a) || !is_aligned(problem.b);
  EpilogueShape& epilogue = shape.epilogue;
  epilogue.alpha = given.alpha;
  epilogue.beta = given.source == nullptr ? 0.0f : given.beta;
  epilogue.output_scale = given.output_scale;
  epilogue.activation = given.activation;
  epilogue.clamp_low = given.clamp_low;
  epilogue.clamp_high = given.clamp_high;
  epilogue.gated = given.gated;
  epilogue.column_bias = given.column_bias != nullptr;
  epilogue.row_bias = given.row_bias != nullptr;
  epilogue.column_scale = given.column_scale != nullptr;
  epilogue.row_scale = given.row_scale != nullptr;
  epilogue.auxiliary = given.auxiliary != nullptr;
  epilogue.amax = given.amax != nullptr;
  epilogue.source_type = given.source_type;
  epilogue.bias_type = given.bias_type;
  epilogue.auxiliary_type = given.auxiliary_type;
  return shape;
}

std::string title_of(const MatmulProblem& problem) {
  return fmt::format("{} x {} x {} x {}, {} x {} -> {} {}", problem.m, problem.n, problem.k,
                     problem.batch, name_of(problem.a.type), name_of(problem.b.type),
                     name_of(problem.d.type), layout_name(problem.a.major, problem.b.major));
}

bool logs_distinct_calls() { return level() == LogLevel::Calls; }
bool logs_calls() { return level() >= LogLevel::Info; }
bool logs_dispatch() { return level() == LogLevel::Dispatch; }

void log_line(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

}  // namespace tw::library
