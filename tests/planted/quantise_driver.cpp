// As driver.cpp, with a bf16 matrix to quantise to e4m3.
//
// usage: planted M K SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "src/run/quantise.h"
#include "tests/planted/quantise_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 6) throw std::runtime_error("Five arguments are needed.");
  Case made = usual_case(quantise_trial, instance);
  made.problem.as<tw_quantise_problem>().m = std::stoll(arguments[1]);
  made.problem.as<tw_quantise_problem>().k = std::stoll(arguments[2]);
  made.fill = Fill::Position;
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[3]));
  read_schedule(options, 4, count, arguments);

  made.seed = options.seed;
  const Verified verified(made);
  HostProblem ran = verified.given();
  const AnyProblem problem = ran.placed();
  Checked checked;
  Status status = check(checked, QuantiseFamily::description, problem.data());
  vgpu::Report report;
  if (status.is_good()) status = instance.simulate(checked, {}, options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  print(report, verified.compare(ran));
  return 0;
}

}  // namespace
}  // namespace tw::planted

// The trial's instances: the one.
std::span<const tw::Instance> tw::quantise_instances() { return {&tw::planted::instance, 1}; }

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
