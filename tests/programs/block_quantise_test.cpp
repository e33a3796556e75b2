// Kernels that quantise to the block-scaled formats, on the virtual GPU: the host's bytes, padding
// included, on every schedule.
#include <gtest/gtest.h>

#include "tests/programs/block_quantise_case.h"
#include "tests/vgpu/support.h"
#include "tilewright/arch/sm80.h"

namespace tw::programs {
namespace {

using Type = ElementType;

template <class Named>
void expect(Type source, std::int64_t m, std::int64_t k, MxScale rule, bool aligned,
            vgpu::Options options) {
  using Parts = BlockQuantise<Sm80, Named>;
  using Kernel = kernel::Streaming<Parts>;
  const auto seed = static_cast<unsigned>(options.seed);
  QuantiseData data(Named::config, source, m, k, rule, aligned, seed);
  QuantiseData host(Named::config, source, m, k, rule, aligned, seed);
  ASSERT_TRUE(quantise_on_host(host.problem).is_good());
  typename Kernel::Params params;
  unsigned ctas = 0;
  const Status planned = plan<Parts>(params, ctas, data.problem, 3);
  ASSERT_TRUE(planned.is_good()) << planned.sentence();
  const std::vector<vgpu::GlobalRange> touched = {
      {data.source.data(), data.source.size() * 4, "source", true, false},
      {data.elements.data(), data.elements.size() * 16, "elements", false, true},
      {data.scales.data(), data.scales.size() * 16, "scales", false, true}};
  const vgpu::Report report = vgpu::run({ctas, 1, Kernel::threads, sizeof(typename Kernel::Storage),
                                         [&params] { Kernel::run(params); }},
                                        touched, options);
  ASSERT_TRUE(test::clean(report)) << m << " x " << k << ", seed " << seed;
  ASSERT_TRUE(data.same_bytes(host)) << m << " x " << k << ", seed " << seed;
}

template <class Named>
void expect_any_shape() {
  vgpu::Options options;
  for (const vgpu::Landing landing : test::every_landing) {
    options.landing = landing;
    ++options.seed;
    expect<Named>(Type::Bf16, 140, 264, MxScale::floor, true, options);
  }
  expect<Named>(Type::Fp32, 1, 4, MxScale::rceil, true, options);
  expect<Named>(Type::Fp16, 128, 128, MxScale::rceil, false, options);
  expect<Named>(Type::Fp32, 257, 148, MxScale::floor, false, options);
  expect<Named>(Type::Bf16, 33, 500, MxScale::rceil, true, options);
}
TEST(BlockQuantiseKernel, MakesMxfp8) {
  expect_any_shape<NamedFormat<Type::E4m3, ScaleType::Ue8m0>>();
  expect_any_shape<NamedFormat<Type::E5m2, ScaleType::Ue8m0>>();
}
TEST(BlockQuantiseKernel, MakesMxfp6) {
  expect_any_shape<NamedFormat<Type::E2m3, ScaleType::Ue8m0>>();
  expect_any_shape<NamedFormat<Type::E3m2, ScaleType::Ue8m0>>();
}
TEST(BlockQuantiseKernel, MakesMxfp4) {
  expect_any_shape<NamedFormat<Type::E2m1, ScaleType::Ue8m0>>();
}
TEST(BlockQuantiseKernel, MakesNvfp4) {
  expect_any_shape<NamedFormat<Type::E2m1, ScaleType::Ue4m3>>();
}

TEST(BlockQuantiseKernel, RefusesWithASentence) {
  using Parts = BlockQuantise<Sm80, NamedFormat<Type::E2m1, ScaleType::Ue8m0>>;
  const auto says = [](auto change, const char* words) {
    QuantiseData data(Parts::Stream::config, Type::Bf16, 8, 64, MxScale::floor, true, 1);
    change(data.problem);
    typename kernel::Streaming<Parts>::Params params;
    unsigned ctas = 0;
    const Status status = plan<Parts>(params, ctas, data.problem, 1);
    EXPECT_FALSE(status.is_good());
    EXPECT_NE(std::string(status.sentence()).find(words), std::string::npos) << status.sentence();
  };
  says([](BlockQuantiseProblem& p) { p.element_type = Type::E4m3; }, "This kernel makes e2m1");
  says([](BlockQuantiseProblem& p) { p.k = 63; }, "k is 63");
  says([](BlockQuantiseProblem& p) { p.elements_pitch = 68; }, "pitch 68");
}

}  // namespace
}  // namespace tw::programs
