// Operands that are converted before they are multiplied: fp8 on sm_80, all 256 codes of e4m3 and
// of e5m2 on both sides, at every place along k of a stage, NaN and infinity included. (The
// conversion by itself: tests/isa/convert_test.cpp.)
#include <cmath>

#include "tests/hooks/schedules.h"
#include "tilewright/arch/sm80.h"

namespace tw::hooks {
namespace {

using test::clean;

constexpr int codes = 256, k = 128;

template <ElementType a_type, ElementType b_type>
struct Converting {
  static constexpr MatmulConfig config = {.tiling = {.n = 128, .a_type = a_type, .b_type = b_type},
                                          .d_type = ElementType::Fp32,
                                          .multiply_groups = 1};
};
using E4m3E5m2 = Matmul<Sm80, Converting<ElementType::E4m3, ElementType::E5m2>>;
using E5m2E4m3 = Matmul<Sm80, Converting<ElementType::E5m2, ElementType::E4m3>>;

// Row r of an operand is code r where it is, and zero elsewhere.
enum class Spread { Everywhere, AtOwnPlace, AtFive };
bool is_there(Spread spread, int row, int at) {
  return spread == Spread::Everywhere || at == (spread == Spread::AtFive ? 5 : row % k);
}
void fill_codes(HostMatrix& matrix, Spread spread) {
  for (int row = 0; row < codes; ++row) {
    for (int at = 0; at < k; ++at) {
      *static_cast<std::uint8_t*>(matrix.element(matrix.index(0, row, at))) =
          static_cast<std::uint8_t>(is_there(spread, row, at) ? row : 0);
    }
  }
}

// Sums that differ from the exact ones: of products that float32 holds, at most one not zero.
template <class Kernel>
int wrong_sums(Spread a, Spread b, const vgpu::Options& options) {
  MatmulShape shape;
  shape.m = shape.n = codes;
  shape.k = k;
  shape.a_type = Kernel::config.tiling.a_type;
  shape.b_type = Kernel::config.tiling.b_type;
  shape.d_type = ElementType::Fp32;
  MatmulData data = make_matmul_data(shape, Fill::Integers, 1);
  fill_codes(data.a, a);
  fill_codes(data.b, b);
  EXPECT_TRUE(clean(run_parts<Kernel>(data, shape, options)));
  int wrong = 0;
  for (int row = 0; row < codes; ++row) {
    for (int column = 0; column < codes; ++column) {
      double sum = 0;
      for (int at = 0; at < k; ++at) sum += data.a.at(0, row, at) * data.b.at(0, column, at);
      const double given = data.d.at(0, row, column);
      wrong += std::isnan(sum) ? !std::isnan(given) : given != sum;
    }
  }
  return wrong;
}

template <class Kernel>
void expect_exact_sums() {
  // Everywhere, a NaN or an infinity meets a zero, so that the whole row is NaN; at five, they meet
  // each other and every finite value.
  EXPECT_EQ(wrong_sums<Kernel>(Spread::Everywhere, Spread::AtOwnPlace, {}), 0);
  EXPECT_EQ(wrong_sums<Kernel>(Spread::AtOwnPlace, Spread::Everywhere, {}), 0);
  under_every_schedule([](const vgpu::Options& options) {
    ASSERT_EQ(wrong_sums<Kernel>(Spread::AtFive, Spread::AtFive, options), 0);
  });
}

TEST(HookConvert, EveryCodeOfE4m3TimesEveryCodeOfE5m2) { expect_exact_sums<E4m3E5m2>(); }
TEST(HookConvert, EveryCodeOfE5m2TimesEveryCodeOfE4m3) { expect_exact_sums<E5m2E4m3>(); }

// The operands' types exchanged: most codes mean something else. The op takes no tensors of other
// types, so that the same memory has to be named anew.
struct MistakenOp : E5m2E4m3::Op {
  using Tensors = E5m2E4m3::Payload::RingTensors;
  MistakenOp(const E4m3E5m2::Payload::RingTensors& stages, unsigned first_row, unsigned thread)
      : E5m2E4m3::Op(Tensors(stages.a.address()), first_row, thread) {}
  // A TileOp takes stages of its own ring only: this one is told that it has them.
  struct Disguised {
    using Reads = E5m2E4m3::Ring;
    unsigned at;
    unsigned slot() const { return at; }
  };
  template <class Stage>
  void multiply(Accumulator& sum, const Stage& stage) {
    E5m2E4m3::Op::multiply(sum, Disguised{stage.slot()});
  }
};
struct Mistaken : E4m3E5m2 {
  using Op = MistakenOp;
};
TEST(HookConvert, NoticesCodesOfTheOtherType) {
  const int wrong = wrong_sums<Mistaken>(Spread::AtFive, Spread::AtFive, {});
  EXPECT_GT(wrong, codes * codes / 2);
  EXPECT_LT(wrong, codes * codes);
}

}  // namespace
}  // namespace tw::hooks
