// As driver.cpp, with a blockwise FP8 product: A's scales are column-major, B's row-major.
//
// usage: planted M N K SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "src/blockwise_fp8/task.h"
#include "tests/planted/blockwise_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 7) throw std::runtime_error("Six arguments are needed.");
  BlockwiseShape shape;
  shape.matmul.m = std::stoll(arguments[1]);
  shape.matmul.n = std::stoll(arguments[2]);
  shape.matmul.k = std::stoll(arguments[3]);
  shape.matmul.a_type = shape.matmul.b_type = ElementType::E4m3;
  shape.a_scales = Major::MN;
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[4]));
  read_schedule(options, 5, count, arguments);

  BlockwiseData data = make_blockwise_data(shape, Fill::Integers, options.seed);
  vgpu::Report report;
  const Status status = simulate(blockwise_on_host(data, shape), options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  print(report, compare(data.matmul, direct_product(data, shape)));
  return 0;
}

}  // namespace
}  // namespace tw::planted

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
