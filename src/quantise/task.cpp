#include "src/quantise/task.h"

#include "src/matmul/names.h"

namespace tw {

VirtualRun run_virtually(const QuantiseInstance& instance, const VerifiedQuantise& problem,
                         const vgpu::Options& options) {
  VirtualRun run;
  if (instance.simulate == nullptr) {
    run.status = no_virtual_gpu();
    return run;
  }
  QuantiseData data = problem.data;
  run.status = instance.simulate(quantise_in_place(data, problem.shape), options, run.report);
  if (run.status.is_good()) run.comparison = compare(data, problem.expected);
  return run;
}

std::string run_line(const QuantiseInstance& instance, const QuantiseShape& shape, Fill fill,
                     std::uint64_t seed) {
  std::string line = std::string("./tw run quantise --instance ") + instance.name + " --m " +
                     std::to_string(shape.m) + " --k " + std::to_string(shape.k) +
                     " --source-type " + name_of(shape.source_type) + " --element-type " +
                     name_of(shape.element_type) + " --scales " +
                     (shape.scales == Major::K ? "row" : "column");
  if (shape.rule == BlockScale::power_of_two) line += " --powers-of-two";
  if (shape.unaligned) line += " --unaligned";
  if (shape.batch != 1) line += " --batch " + std::to_string(shape.batch);
  return line + " --data " + name_of(fill) + " --seed " + std::to_string(seed);
}

}  // namespace tw
