// The same attention on a GPU: exact where the result is, within the bound elsewhere.
#include <gtest/gtest.h>

#include "tests/gpu/on_device.h"
#include "tests/programs/attention_case.h"
#include "tilewright/kernel/entry.h"
#include "tilewright/launch/cuda.h"

namespace tw::programs {
namespace {

template <class T>
class Copy {
 public:
  explicit Copy(std::vector<T>& host) : host_(host) {
    tests::must(cudaMalloc(&device_, std::max<std::size_t>(bytes(), 1)));
    tests::must(cudaMemcpy(device_, host.data(), bytes(), cudaMemcpyHostToDevice));
  }
  ~Copy() { cudaFree(device_); }
  Copy(const Copy&) = delete;
  T* get() const { return device_; }
  void read() { tests::must(cudaMemcpy(host_.data(), device_, bytes(), cudaMemcpyDeviceToHost)); }

 private:
  std::size_t bytes() const { return host_.size() * sizeof(T); }
  std::vector<T>& host_;
  T* device_ = nullptr;
};

template <class Named>
void run(AttentionCase& data) {
  using Kernel = Attention<typename Named::Page, Named>;
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  static CudaKernel entry(
      reinterpret_cast<const void*>(&kernel::entry<Skeleton>),
      {Kernel::config.tiling.cluster.size(), Kernel::in_clusters,
       Kernel::Target::target.capability_begin, Kernel::Target::target.capability_end,
       Skeleton::threads, sizeof(typename Skeleton::Storage), Kernel::dependent_launch});
  Copy q(data.q.bits), k(data.k.bits), v(data.v.bits), output(data.output.bits);
  Copy log_sums(data.log_sums);
  Copy query_ends(data.query_ends), key_ends(data.key_ends);
  const tests::DeviceWorkspace workspace(4);
  tw_attention_problem problem = data.problem();
  problem.q.data = q.get() + HostHeads::guard;
  problem.k.data = k.get() + HostHeads::guard;
  problem.v.data = v.get() + HostHeads::guard;
  problem.output.data = output.get() + HostHeads::guard;
  problem.log_sums.data = log_sums.get();
  if (data.shape.ragged) {
    problem.query_ends = query_ends.get();
    problem.key_ends = key_ends.get();
  }
  unsigned clusters = 0;
  const Status asked = entry.max_active_clusters(clusters);
  ASSERT_TRUE(asked.is_good()) << asked.sentence();
  typename Skeleton::Params params;
  MatmulGrid grid = {};
  const Status planned =
      plan_attention<Kernel>(params, grid, problem, clusters, workspace.given(), encode_for_cuda);
  ASSERT_TRUE(planned.is_good()) << planned.sentence();
  const Status launched = entry.launch(params, grid.ctas, nullptr);
  ASSERT_TRUE(launched.is_good()) << launched.sentence();
  tests::wait_or_exit("attention");
  output.read();
  log_sums.read();
}

template <class Named>
class AttentionGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      GTEST_SKIP() << "There is no NVIDIA GPU here.";
    }
    if (!tests::runs_here("sm90a")) GTEST_SKIP() << "This test is compiled for sm_90a.";
  }
};
using Configs = ::testing::Types<AttentionTile<128, 128, 128>, AttentionTile<128, 176, 128, 64>,
                                 AttentionTile<192, 112, 64>,
                                 AttentionTile<128, 128, 64, 128, Scheduling::Dynamic>,
                                 AttentionTile80<64, 64, 128>, AttentionTile80<128, 64, 64>>;
TYPED_TEST_SUITE(AttentionGpu, Configs);

TYPED_TEST(AttentionGpu, OneHotRowsAreExact) {
  for (const AttentionShape& shape : attention_shapes<TypeParam>()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      AttentionCase data(shape);
      data.fill_one_hot(seed);
      run<TypeParam>(data);
      EXPECT_EQ(data.wrong_one_hot(), 0) << data.q.rows << " x " << data.k.rows << ", " << seed;
    }
  }
}

TYPED_TEST(AttentionGpu, RandomProblemsAreWithinTheBound) {
  for (std::uint64_t seed = 1; seed <= 75; ++seed) {
    AttentionCase data(random_attention_shape<TypeParam>(seed));
    data.fill_random(seed);
    run<TypeParam>(data);
    EXPECT_LE(data.worst_error(), 1) << data.q.rows << " x " << data.k.rows << ", seed " << seed;
  }
}

}  // namespace
}  // namespace tw::programs
