// As driver.cpp, with a convolution; an axis is EXTENT FILTER STRIDE DILATION PAD_LOW PAD_HIGH.
//
// usage: planted N C K GROUPS AXIS_H AXIS_W SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "src/run/conv2d.h"
#include "src/run/product.h"
#include "tests/planted/conv2d_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

tw_conv2d_axis axis_of(char** words) {
  const auto number = [&](int i) { return std::stoll(words[i]); };
  return {number(0), number(1), number(2), number(3), number(4), number(5)};
}

int run(int count, char** arguments) {
  if (count < 20) throw std::runtime_error("Nineteen arguments are needed.");
  Case usual = usual_case(conv2d_trial, instance);
  auto& problem = usual.as<tw_conv2d_problem>();
  problem.n = std::stoll(arguments[1]);
  problem.c = std::stoll(arguments[2]);
  problem.k = std::stoll(arguments[3]);
  problem.groups = std::stoll(arguments[4]);
  problem.h = axis_of(arguments + 5);
  problem.w = axis_of(arguments + 11);
  // Groups stand side by side in what the epilogue reads, too.
  EpilogueShape parts;
  parts.column_bias = problem.groups > 1;
  parts.beta = problem.groups > 1 ? 1.0f : 0.0f;
  set_epilogue(problem.epilogue, parts);
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[17]));
  read_schedule(options, 18, count, arguments);

  Case made = conv2d_case(instance, problem);
  made.seed = options.seed;
  const Verified verified(made);
  HostProblem ran = verified.given();
  const AnyProblem placed = ran.placed();
  Checked checked;
  Status status = check(checked, Conv2dFamily::description, placed.data());
  vgpu::Report report;
  if (status.is_good()) status = instance.simulate(checked, {}, options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  print(report, verified.compare(ran));
  return 0;
}

}  // namespace
}  // namespace tw::planted

// The trial's instances: the one.
std::span<const tw::Instance> tw::conv2d_instances() { return {&tw::planted::instance, 1}; }

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
