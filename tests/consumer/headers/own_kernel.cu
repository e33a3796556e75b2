// A kernel that the library has not, 64 by 192 tiles of fp16, made of the headers alone.
#include <tilewright/arch/sm90.h>
#include <tilewright/bind/recipe.h>
#include <tilewright/family/matmul/launch.h>
#include <tilewright/kernel/entry.h>
#include <tilewright/launch/cuda.h>
#include <tilewright/launch/stated_check.h>

#include <cstdio>
#include <vector>

struct Own {
  static constexpr tw::MatmulConfig config = {.tiling = {.m = 64,
                                                         .n = 192,
                                                         .a_type = tw::ElementType::Fp16,
                                                         .b_type = tw::ElementType::Fp16},
                                              .d_type = tw::ElementType::Fp32,
                                              .multiply_groups = 1};
};
using Kernel = tw::Matmul<tw::Sm90, Own>;
using Skeleton = tw::MatmulKernel<tw::Sm90, Own>;

tw::Status multiply(const tw::MatmulProblem& problem, cudaStream_t stream) {
  static tw::CudaKernel kernel(
      reinterpret_cast<const void*>(&tw::kernel::entry<Skeleton>),
      {Kernel::config.tiling.cluster.size(), Kernel::in_clusters, tw::Sm90::target.capability_begin,
       tw::Sm90::target.capability_end, Skeleton::threads, sizeof(Skeleton::Storage),
       Kernel::dependent_launch});
  if (tw::Status status = tw::check(problem); !status.is_good()) return status;
  unsigned clusters = 0;
  if (tw::Status asked = kernel.max_active_clusters(clusters); !asked.is_good()) return asked;
  Skeleton::Params params;
  tw::MatmulGrid grid = {};
  tw::Status planned =
      tw::plan<Kernel>(params, grid, problem, {}, clusters, {}, tw::encode_for_cuda);
  if (!planned.is_good()) return planned;
  return kernel.launch(params, grid.ctas, stream);
}

int main() {
  const int m = 100, n = 200, k = 80;
  std::vector<tw::Fp16> a(m * k), b(n * k);
  for (int i = 0; i < m * k; ++i) a[i] = tw::Fp16(static_cast<float>(i * 7 % 5 - 2));
  for (int i = 0; i < n * k; ++i) b[i] = tw::Fp16(static_cast<float>(i * 11 % 3 - 1));
  std::vector<float> d(m * n);
  void *on_a = nullptr, *on_b = nullptr, *on_d = nullptr;
  if (cudaMalloc(&on_a, a.size() * 2) != cudaSuccess ||
      cudaMalloc(&on_b, b.size() * 2) != cudaSuccess ||
      cudaMalloc(&on_d, d.size() * 4) != cudaSuccess) {
    std::printf("There is no GPU here.\n");
    return 0;
  }
  cudaMemcpy(on_a, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(on_b, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
  tw::MatmulProblem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a = {on_a, k, 0, tw::ElementType::Fp16, tw::Major::K};
  problem.b = {on_b, k, 0, tw::ElementType::Fp16, tw::Major::K};
  problem.d = {on_d, n, 0, tw::ElementType::Fp32};
  if (const tw::Status status = multiply(problem, nullptr); !status.is_good()) {
    std::fprintf(stderr, "%s\n", status.sentence().c_str());
    return 1;
  }
  cudaMemcpy(d.data(), on_d, d.size() * 4, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0.0f;
      for (int i = 0; i < k; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[column * k + i]);
      }
      wrong += d[row * n + column] != sum;
    }
  }
  std::printf("%d of %d elements are wrong\n", wrong, m * n);
  return wrong == 0 ? 0 : 1;
}
