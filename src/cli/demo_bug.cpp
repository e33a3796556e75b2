#include "src/cli/demo_bug.h"

// The example with its bug.
#define ROWS_HELD 56
#define main own_ring
#include "examples/own_ring/main.cpp"
#undef main

namespace tw::cli {

vgpu::Report run_ring_released_early() {
  const TensorMap map =
      map_for_virtual({a, ElementType::Bf16, columns, m, 1, 2 * columns, 0, columns, rows});
  vgpu::Options options;
  options.landing = vgpu::Landing::Eager;
  const vgpu::GlobalRange memory[] = {{a, sizeof a, "A", true, false},
                                      {sums, sizeof sums, "sums", false, true}};
  return vgpu::run({1, 1, threads, sizeof(Shared), [&] { run(map, sums); }}, memory, options);
}

}  // namespace tw::cli
