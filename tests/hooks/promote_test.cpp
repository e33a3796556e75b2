// promote_every: after so many k-tiles a partial sum joins the sums in float32, in the multiplying
// threads where these hold it (wgmma), in the epilogue role where it lies in tensor memory. Partial
// sums of whole kernels are held against whole sums, also where the last one is short, alone, or of
// nothing. (WgmmaOp by itself, promoting after 1 to 4 stages: tests/io/tiling_test.cpp.)
#include "src/verify/compare.h"
#include "tests/hooks/schedules.h"
#include "tilewright/arch/sm100.h"
#include "tilewright/arch/sm90.h"

namespace tw::hooks {
namespace {

using test::clean;
using test::found;

constexpr unsigned tile_k = 128;
constexpr MatmulConfig config_of(unsigned tile_m, unsigned promote_every) {
  return {
      .tiling = {.m = tile_m, .n = 64, .a_type = ElementType::E4m3, .b_type = ElementType::E4m3},
      .d_type = ElementType::Fp32,
      .multiply_groups = 1,
      .promote_every = promote_every};
}
template <unsigned promote_every>
struct Hopper {
  static constexpr MatmulConfig config = config_of(64, promote_every);
};
template <unsigned promote_every>
struct Blackwell {
  static constexpr MatmulConfig config = config_of(128, promote_every);
};

MatmulShape shape_of(std::int64_t k) {
  MatmulShape shape;
  shape.m = 70;
  shape.n = 60;
  shape.k = k;
  shape.a_type = shape.b_type = ElementType::E4m3;
  shape.d_type = ElementType::Fp32;
  return shape;
}

// Integers that both ways of summing keep: the same bits, and the right ones.
template <class Whole, class Promoted>
void expect_whole_sums() {
  for (const std::int64_t k : {0u, 1u, 2 * tile_k, 4 * tile_k - 3, 5 * tile_k}) {
    const MatmulShape shape = shape_of(k);
    MatmulData data = make_matmul_data(shape, Fill::Integers, 1);
    const MatmulReference reference = reference_on_host(data, shape);
    ASSERT_TRUE(clean(run_parts<Whole>(data, shape, {})));
    const Comparison whole = compare(data, reference);
    ASSERT_TRUE(whole.exact && whole.good()) << whole.complaint();
    under_every_schedule([&](const vgpu::Options& options) {
      MatmulData promoted = data;
      poison_outputs(promoted);
      ASSERT_TRUE(clean(run_parts<Promoted>(promoted, shape, options))) << "k = " << k;
      ASSERT_TRUE(same_outputs(promoted, data)) << "k = " << k;
    });
  }
}

TEST(HookPromote, RegistersGiveWholeSums) {
  expect_whole_sums<Matmul<Sm90, Hopper<0>>, Matmul<Sm90, Hopper<2>>>();
}
TEST(HookPromote, TensorMemoryGivesWholeSums) {
  expect_whole_sums<Matmul<Sm100, Blackwell<0>>, Matmul<Sm100, Blackwell<2>>>();
}

// The first partial sum is 2^24, the second and the third are 2, of ones. One by one, ones are lost
// beside 2^24 in float32. (Hopper's tensor core loses them beside 2^14, tests/vgpu_data:
// WgmmaKinds.SumsOfFp8AreShort; the virtual GPU adds up in float32.)
template <class Kernel>
std::int64_t wrong_among_wide_sums() {
  const MatmulShape shape = shape_of(5 * tile_k);
  MatmulData data = make_matmul_data(shape, Fill::Integers, 1);
  const auto value = [](auto, auto, std::int64_t at) -> double {
    if (at < 2 * tile_k) return 256;
    const std::int64_t in_tile = at % tile_k;
    return at / tile_k % 2 == 0 && (in_tile == 9 || in_tile == 77) ? 1 : 0;
  };
  data.a.fill(value);
  data.b.fill(value);
  EXPECT_TRUE(clean(run_parts<Kernel>(data, shape, {})));
  std::int64_t wrong = 0;
  for (int row = 0; row < shape.m; ++row) {
    for (int column = 0; column < shape.n; ++column) {
      wrong += data.d.at(0, row, column) != (1 << 24) + 4;
    }
  }
  return wrong;
}

TEST(HookPromote, KeepsWhatIsLostInWholeSums) {
  EXPECT_EQ((wrong_among_wide_sums<Matmul<Sm90, Hopper<0>>>()), 70 * 60);
  EXPECT_EQ((wrong_among_wide_sums<Matmul<Sm90, Hopper<2>>>()), 0);
  EXPECT_EQ((wrong_among_wide_sums<Matmul<Sm100, Blackwell<0>>>()), 70 * 60);
  EXPECT_EQ((wrong_among_wide_sums<Matmul<Sm100, Blackwell<2>>>()), 0);
}

// The products of the newest stage still add up when multiply() returns.
struct Hasty : Matmul<Sm90, Hopper<2>> {
  struct Op : Matmul<Sm90, Hopper<2>>::Op {
    using Matmul<Sm90, Hopper<2>>::Op::Op;
    template <class Stage>
    void multiply(Accumulator& sum, const Stage& stage) {
      Matmul<Sm90, Hopper<2>>::Op::multiply(sum, stage);
      if (sum.partial().started()) sum.promote();
    }
  };
};
TEST(HookPromote, FindsAPromotionOfProductsInFlight) {
  const MatmulShape shape = shape_of(3 * tile_k);
  under_every_schedule([&](const vgpu::Options& options) {
    MatmulData data = make_matmul_data(shape, Fill::Integers, 1);
    ASSERT_TRUE(found(run_parts<Hasty>(data, shape, options), vgpu::Checker::AccumulatorInFlight));
  });
}

// Every partial sum starts anew: one that goes on where tensor memory is, adds what nobody wrote.
struct GoesOn : Matmul<Sm100, Blackwell<2>> {
  struct Op : Matmul<Sm100, Blackwell<2>>::Op {
    using Matmul<Sm100, Blackwell<2>>::Op::Op;
    template <class Sum, class Stage>
    void multiply(Sum& sum, const Stage& stage) {
      sum.started = 1;
      Matmul<Sm100, Blackwell<2>>::Op::multiply(sum, stage);
    }
  };
};
TEST(HookPromote, FindsAPartialSumThatGoesOn) {
  const MatmulShape shape = shape_of(3 * tile_k);
  under_every_schedule([&](const vgpu::Options& options) {
    MatmulData data = make_matmul_data(shape, Fill::Integers, 1);
    ASSERT_TRUE(found(run_parts<GoesOn>(data, shape, options), vgpu::Checker::Uninitialised));
  });
}

}  // namespace
}  // namespace tw::hooks
