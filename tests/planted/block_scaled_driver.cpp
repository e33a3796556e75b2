// As driver.cpp, with a block-scaled product.
//
// usage: planted M N K SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "src/run/block_scaled.h"
#include "tests/planted/block_scaled_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 7) throw std::runtime_error("Six arguments are needed.");
  Case made = usual_case(block_scaled_trial, instance);
  auto& matmul = made.as<tw_block_scaled_problem>().matmul;
  matmul.m = std::stoll(arguments[1]);
  matmul.n = std::stoll(arguments[2]);
  matmul.k = std::stoll(arguments[3]);
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[4]));
  read_schedule(options, 5, count, arguments);

  made.seed = options.seed;
  const Verified verified(made);
  HostProblem ran = verified.given();
  const AnyProblem placed = ran.placed();
  Checked checked;
  Status status = check(checked, BlockScaledFamily::description, placed.data());
  vgpu::Report report;
  if (status.is_good()) status = instance.simulate(checked, {}, options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  print(report, verified.compare(ran));
  return 0;
}

}  // namespace
}  // namespace tw::planted

// The trial's instances: the one.
std::span<const tw::Instance> tw::block_scaled_instances() { return {&tw::planted::instance, 1}; }

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
