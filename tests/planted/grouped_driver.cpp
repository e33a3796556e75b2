// As driver.cpp, with groups of rows: of 70, 0, 130 and 9 rows, and 20 rows of nobody behind them;
// or each with room for CAPACITY rows.
//
// usage: planted CAPACITY N K SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "src/run/grouped.h"
#include "tests/planted/grouped_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 7) throw std::runtime_error("Six arguments are needed.");
  Case made = usual_case(grouped_trial, instance);
  auto& problem = made.as<tw_grouped_problem>();
  problem.capacity = std::stoll(arguments[1]);
  problem.matmul.n = std::stoll(arguments[2]);
  problem.matmul.k = std::stoll(arguments[3]);
  made.lists = {{70, 0, 130, 9}, {problem.capacity > 0 ? 0 : 20}};
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[4]));
  read_schedule(options, 5, count, arguments);

  made.seed = options.seed;
  const Verified verified(made);
  HostProblem ran = verified.given();
  const AnyProblem placed = ran.placed();
  Checked checked;
  Status status = check(checked, GroupedFamily::description, placed.data());
  vgpu::Report report;
  if (status.is_good()) status = instance.simulate(checked, {}, options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  print(report, verified.compare(ran));
  return 0;
}

}  // namespace
}  // namespace tw::planted

// The trial's instances: the one.
std::span<const tw::Instance> tw::grouped_instances() { return {&tw::planted::instance, 1}; }

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
