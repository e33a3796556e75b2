// As driver.cpp, with FP8 and scales of blocks: A's scales are column-major, B's row-major.
//
// usage: planted M N K SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "src/run/blockwise.h"
#include "tests/planted/blockwise_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 7) throw std::runtime_error("Six arguments are needed.");
  Case made = usual_case(blockwise_trial, instance);
  auto& problem = made.as<tw_blockwise_problem>();
  problem.matmul.m = std::stoll(arguments[1]);
  problem.matmul.n = std::stoll(arguments[2]);
  problem.matmul.k = std::stoll(arguments[3]);
  problem.a_scales.k_stride = 0;
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[4]));
  read_schedule(options, 5, count, arguments);

  made.seed = options.seed;
  const Verified verified(made);
  HostProblem ran = verified.given();
  const AnyProblem placed = ran.placed();
  Checked checked;
  Status status = check(checked, BlockwiseFamily::description, placed.data());
  vgpu::Report report;
  if (status.is_good()) status = instance.simulate(checked, {}, options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  print(report, verified.compare(ran));
  return 0;
}

}  // namespace
}  // namespace tw::planted

// The trial's instances: the one.
std::span<const tw::Instance> tw::blockwise_instances() { return {&tw::planted::instance, 1}; }

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
