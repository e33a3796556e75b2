#include "src/cli/bench_request.h"

#include <fmt/format.h>

#include "src/verify/device.h"
#include "src/verify/on_gpu.h"

namespace tw::cli {

namespace {

// The virtual GPU knows what happens in which order, and not how long it takes.
void bench(const Case& made, Verdict& verdict) {
  const Result<Timing> timing = time_on_gpu(made);
  if (!timing.status.is_good()) {
    return verdict.refuse("Only a GPU tells how long a kernel takes, the virtual one does not. " +
                          timing.status.sentence());
  }
  fmt::print("{} on {}: {:.2f} us, the median of {} launches (fastest {:.2f}, slowest {:.2f})\n",
             title_of(made), gpu_name(*made.instance), timing.value->median_us,
             timing.value->launches, timing.value->fastest_us, timing.value->slowest_us);
}

}  // namespace

void add_bench_described(CLI::App& command, const Families& families, Verdict& verdict) {
  add_described(
      command, families,
      [](const Case& made, const vgpu::Options&, Verdict& said) { bench(made, said); }, verdict);
}

}  // namespace tw::cli
