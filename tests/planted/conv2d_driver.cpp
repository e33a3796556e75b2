// As driver.cpp, with a convolution; an axis is EXTENT FILTER STRIDE DILATION PAD_LOW PAD_HIGH.
//
// usage: planted N C K GROUPS AXIS_H AXIS_W SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "src/conv2d/task.h"
#include "tests/planted/conv2d_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

Conv2dAxis axis_of(char** words) {
  const auto number = [&](int i) { return std::stoll(words[i]); };
  return {number(0), number(1), number(2), number(3), number(4), number(5)};
}

int run(int count, char** arguments) {
  if (count < 20) throw std::runtime_error("Nineteen arguments are needed.");
  Conv2dShape shape;
  shape.direction = direction();
  shape.n = std::stoll(arguments[1]);
  shape.c = std::stoll(arguments[2]);
  shape.k = std::stoll(arguments[3]);
  shape.groups = std::stoll(arguments[4]);
  shape.h = axis_of(arguments + 5);
  shape.w = axis_of(arguments + 11);
  // Groups stand side by side in what the epilogue reads, too.
  if (shape.groups > 1) {
    shape.epilogue.column_bias = true;
    shape.epilogue.beta = 1.0f;
  }
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[17]));
  read_schedule(options, 18, count, arguments);

  MatmulData data = make_conv2d_data(shape, Fill::Integers, options.seed);
  vgpu::Report report;
  const Status status = simulate(conv2d_on_host(data, shape), options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  print(report, compare(data, direct_convolution(data, shape)));
  return 0;
}

}  // namespace
}  // namespace tw::planted

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
