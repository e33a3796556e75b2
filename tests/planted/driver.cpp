// Runs one problem on the virtual GPU with the instance it is linked with, and prints what was
// found, one JSON object per line. plant.py judges it.
//
// usage: planted M N K BETA SMS PARTS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "tests/planted/instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 9) throw std::runtime_error("Eight arguments are needed.");
  MatmulShape shape;
  adapt(shape);
  shape.m = std::stoll(arguments[1]);
  shape.n = std::stoll(arguments[2]);
  shape.k = std::stoll(arguments[3]);
  shape.epilogue.beta = std::stof(arguments[4]);
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[5]));
  const int parts = std::stoi(arguments[6]);
  read_schedule(options, 7, count, arguments);

  MatmulData data = make_matmul_data(shape, Fill::Integers, options.seed);
  vgpu::Report report;
  const Status status = simulate(problem_on_host(data, shape), parts, options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  print(report, compare(data, reference_on_host(data, shape)));
  return 0;
}

}  // namespace
}  // namespace tw::planted

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
