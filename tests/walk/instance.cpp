// One Hopper instance without its epilogue, one output tile, on the virtual GPU: what remains are
// the load and the multiply role. walk.py compiles this file alone with coverage.
#include <cstdio>

#include "src/verify/data.h"
#include "tilewright/arch/sm90.h"
#include "vgpu/simulate.h"

// libgcov has these: what the host does before and after is not part of the walk.
extern "C" void __gcov_reset();
extern "C" void __gcov_dump();

namespace tw::walk {

struct Named {
  static constexpr MatmulConfig config = {.tiling = {.m = 128, .n = 64}, .multiply_groups = 2};
};

// Takes the sums and does nothing with them.
struct NoEpilogue : UsualEpilogue {
  using Buffers = Matmul<Sm90, Named>::Epilogue::Buffers;
  using Params = Matmul<Sm90, Named>::Epilogue::Params;
  template <class Trace>
  NoEpilogue(const Params&, Buffers&, unsigned, unsigned, Trace) {}
  template <class Sum, class Sources>
  void store(const Sum&, const TileOrigin&, Sources&) {}
  void prepare(const TileOrigin&, unsigned) const {}
  void drain() {}
};
struct Kernel : Matmul<Sm90, Named> {
  using Epilogue = NoEpilogue;
};

Status run() {
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  MatmulShape shape;
  shape.m = 128;
  shape.n = 64;
  shape.k = 64 * 20;  // more k-tiles than stages
  MatmulData data = make_matmul_data(shape, Fill::Integers, 1);
  const MatmulProblem problem = problem_on_host(data, shape);
  typename Skeleton::Params params{};
  MatmulGrid grid = {};
  const Status status = plan<Kernel>(params, grid, problem, {}, 1, {}, encode_for_virtual);
  if (!status.is_good()) return status;
  TouchedMemory touched(problem);
  const vgpu::Launch launch = {grid.ctas, Kernel::config.tiling.cluster.size(), Skeleton::threads,
                               sizeof(typename Skeleton::Storage),
                               [&params] { Skeleton::run(params); }};
  __gcov_reset();
  const vgpu::Report report = vgpu::run(launch, touched.ranges(), {});
  __gcov_dump();
  return report.verdict() == vgpu::Report::Clean ? Status::good()
                                                 : Status::refused("The run is not clean.");
}

}  // namespace tw::walk

int main() {
  const tw::Status status = tw::walk::run();
  if (!status.is_good()) std::fprintf(stderr, "%s\n", status.sentence().c_str());
  return status.is_good() ? 0 : 1;
}
