// As driver.cpp, with a block-scaled product.
//
// usage: planted M N K SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "tests/planted/block_scaled_instance.h"
#include "tests/planted/words.h"
#include "tests/programs/block_scaled_case.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 7) throw std::runtime_error("Six arguments are needed.");
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[4]));
  read_schedule(options, 5, count, arguments);
  programs::ScaledCase data(planted_config(), planted_scales(), std::stoll(arguments[1]),
                            std::stoll(arguments[2]), std::stoll(arguments[3]),
                            programs::ScaledFill::Exact, static_cast<std::uint32_t>(options.seed));
  vgpu::Report report;
  const Status status = simulate(data.problem(), data.touched(), options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  Comparison compared;
  compared.wrong = data.wrong();
  print(report, compared);
  return 0;
}

}  // namespace
}  // namespace tw::planted

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
