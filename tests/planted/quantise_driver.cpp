// As driver.cpp, with a bf16 matrix to quantise to e4m3.
//
// usage: planted M K SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "src/quantise/data.h"
#include "tests/planted/quantise_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 6) throw std::runtime_error("Five arguments are needed.");
  QuantiseShape shape;
  shape.m = std::stoll(arguments[1]);
  shape.k = std::stoll(arguments[2]);
  shape.scale_rows = scale_rows;
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[3]));
  read_schedule(options, 4, count, arguments);

  QuantiseData data = make_quantise_data(shape, Fill::Position, options.seed);
  const QuantiseData expected = quantised(data, shape);
  vgpu::Report report;
  const Status status = simulate(quantise_in_place(data, shape), options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  print(report, compare(data, expected));
  return 0;
}

}  // namespace
}  // namespace tw::planted

int main(int count, char** arguments) {
  try {
    return tw::planted::run(count, arguments);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 2;
  }
}
