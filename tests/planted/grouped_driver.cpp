// As driver.cpp, with groups of rows: of 70, 0, 130 and 9 rows, and 20 rows of nobody behind them;
// or each with room for CAPACITY rows.
//
// usage: planted CAPACITY N K SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "src/grouped/task.h"
#include "tests/planted/grouped_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 7) throw std::runtime_error("Six arguments are needed.");
  GroupedShape shape = shape_for(described(), {70, 0, 130, 9}, 20, std::stoll(arguments[1]));
  shape.matmul.n = std::stoll(arguments[2]);
  shape.matmul.k = std::stoll(arguments[3]);
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[4]));
  read_schedule(options, 5, count, arguments);

  GroupedData data = make_grouped_data(shape, Fill::Integers, options.seed);
  const MatmulReference reference = direct_product(data, shape);
  vgpu::Report report;
  const Status status = simulate(grouped_on_host(data, shape), options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  judge_other_rows(data, shape);
  print(report, compare(data.matmul, reference));
  return 0;
}

}  // namespace
}  // namespace tw::planted

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
