// The same kernels on a GPU: the host's bytes.
#include <gtest/gtest.h>

#include "tests/gpu/on_device.h"
#include "tests/programs/block_quantise_case.h"
#include "tilewright/arch/sm80.h"
#include "tilewright/host/cuda.h"
#include "tilewright/kernel/entry.h"

namespace tw::programs {
namespace {

using Type = ElementType;

// A copy on the device.
class Copy {
 public:
  Copy(void* host, std::size_t bytes) : host_(host), bytes_(bytes) {
    tests::must(cudaMalloc(&device_, bytes));
    tests::must(cudaMemcpy(device_, host, bytes, cudaMemcpyHostToDevice));
  }
  ~Copy() { cudaFree(device_); }
  Copy(const Copy&) = delete;
  void* device() const { return device_; }
  void read() { tests::must(cudaMemcpy(host_, device_, bytes_, cudaMemcpyDeviceToHost)); }

 private:
  void* host_;
  std::size_t bytes_;
  void* device_ = nullptr;
};

template <class Named>
void expect(Type source, std::int64_t m, std::int64_t k, MxScale rule, bool aligned,
            unsigned seed) {
  using Parts = BlockQuantise<Sm80, Named>;
  using Kernel = kernel::Streaming<Parts>;
  static CudaKernel entry(
      reinterpret_cast<const void*>(&kernel::entry<Kernel>),
      {1, false, Parts::Target::target.capability_begin, Parts::Target::target.capability_end,
       Kernel::threads, sizeof(typename Kernel::Storage), false});
  QuantiseData data(Named::config, source, m, k, rule, aligned, seed);
  QuantiseData host(Named::config, source, m, k, rule, aligned, seed);
  ASSERT_TRUE(quantise_on_host(host.problem).is_good());
  Copy from(data.source.data(), data.source.size() * 4);
  Copy elements(data.elements.data(), data.elements.size() * 16);
  Copy scales(data.scales.data(), data.scales.size() * 16);
  data.problem.source = from.device();
  data.problem.elements = elements.device();
  data.problem.scales = static_cast<std::uint8_t*>(scales.device());
  unsigned max_ctas = 0, ctas = 0;
  const Status asked = entry.max_active_clusters(max_ctas);
  ASSERT_TRUE(asked.is_good()) << asked.sentence();
  typename Kernel::Params params;
  const Status planned = plan<Parts>(params, ctas, data.problem, max_ctas);
  ASSERT_TRUE(planned.is_good()) << planned.sentence();
  const Status launched = entry.launch(params, ctas, nullptr);
  ASSERT_TRUE(launched.is_good()) << launched.sentence();
  tests::wait_or_exit("a block quantiser");
  elements.read();
  scales.read();
  ASSERT_TRUE(data.same_bytes(host)) << m << " x " << k << ", seed " << seed;
}

template <class Named>
void expect_any_shape() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    GTEST_SKIP() << "There is no NVIDIA GPU here.";
  }
  if (!tests::runs_here("sm90a")) GTEST_SKIP() << "This test is compiled for sm_90a.";
  unsigned seed = 0;
  for (const Type source : {Type::Bf16, Type::Fp16, Type::Fp32}) {
    for (const MxScale rule : {MxScale::floor, MxScale::rceil}) {
      expect<Named>(source, 1000, 4096, rule, true, ++seed);
      expect<Named>(source, 257, 500, rule, false, ++seed);
      expect<Named>(source, 1, 4, rule, true, ++seed);
    }
  }
}
TEST(BlockQuantiseGpu, MakesE4m3) { expect_any_shape<NamedFormat<Type::E4m3, ScaleType::Ue8m0>>(); }
TEST(BlockQuantiseGpu, MakesE5m2) { expect_any_shape<NamedFormat<Type::E5m2, ScaleType::Ue8m0>>(); }
TEST(BlockQuantiseGpu, MakesE2m3) { expect_any_shape<NamedFormat<Type::E2m3, ScaleType::Ue8m0>>(); }
TEST(BlockQuantiseGpu, MakesE3m2) { expect_any_shape<NamedFormat<Type::E3m2, ScaleType::Ue8m0>>(); }
TEST(BlockQuantiseGpu, MakesE2m1) { expect_any_shape<NamedFormat<Type::E2m1, ScaleType::Ue8m0>>(); }
TEST(BlockQuantiseGpu, MakesNvfp4) {
  expect_any_shape<NamedFormat<Type::E2m1, ScaleType::Ue4m3>>();
}

}  // namespace
}  // namespace tw::programs
