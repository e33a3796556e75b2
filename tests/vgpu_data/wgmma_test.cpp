#include "vgpu/data/wgmma.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "hardware_sums.h"
#include "tilewright/base/require.h"
#include "vgpu/data/matrix_descriptor.h"

namespace {

using namespace tw;
using namespace tw::vgpu;
using Product = void (*)(const WgmmaShape&, std::uint32_t* const*, const WgmmaOperands&, bool);

// a is 64 x 16, b is n x 16 (K-major), both bf16 bits; c is 64 x 256.
struct Problem {
  std::uint16_t a[64][16] = {}, b[256][16] = {};
  float c[64][256] = {};
};

std::uint16_t bf16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}
float value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

Problem small_integers(unsigned seed) {
  std::mt19937 random(seed);
  const auto integer = [&](int limit) {
    return static_cast<float>(static_cast<int>(random() % (2 * limit + 1)) - limit);
  };
  Problem problem;
  for (auto& row : problem.a) {
    for (auto& element : row) element = bf16(integer(64));
  }
  for (auto& row : problem.b) {
    for (auto& element : row) element = bf16(integer(64));
  }
  for (auto& row : problem.c) {
    for (auto& element : row) element = integer(100000);
  }
  return problem;
}

// The operands in memory, and the result in fragments, as a warpgroup has them.
class Warpgroup {
 public:
  explicit Warpgroup(const Problem& problem, unsigned n, MapSwizzle swizzle) : n_(n) {
    const unsigned span = swizzle_span(swizzle);
    MatrixDescriptor a{0x400, 16, 8 * span, 0, swizzle}, b{0x4000, 16, 8 * span, 0, swizzle};
    if (swizzle == MapSwizzle::None) {
      a = {0x400, 128, 256, 0, swizzle};
      b = {0x4000, 128 * 32, 128, 0, swizzle};
    }
    place(a, problem.a, 64, operands_.a_chunks);
    place(b, problem.b, n, operands_.b_chunks);
    operands_.a_from_registers = false;
    for (unsigned t = 0; t < 128; ++t) {
      for (unsigned i = 0; i < 4; ++i) {
        const auto* pair =
            &problem.a[t % 32 / 4 + 8 * (i % 2) + 16 * (t / 32)][2 * (t % 4) + 8 * (i / 2)];
        registers_[t][i] = pair[0] | std::uint32_t{pair[1]} << 16;
      }
      operands_.a_registers[t] = registers_[t];
      fragments_[t] = values_[t];
      for (unsigned v = 0; v < 128; ++v) {
        const float value = v < n / 2 ? problem.c[row(t, v)][column(t, v)] : canary;
        values_[t][v] = std::bit_cast<std::uint32_t>(value);
      }
    }
  }

  void read_a_from_registers() {
    for (auto& chunk : operands_.a_chunks) chunk = nullptr;
    operands_.a_from_registers = true;
  }
  void multiply(Product product, bool accumulate) {
    product({.n = n_}, fragments_, operands_, accumulate);
  }
  // Calls see(m, n, value) for every result; the values beyond n/2 must be untouched.
  template <class See>
  void for_each_result(See&& see) const {
    for (unsigned t = 0; t < 128; ++t) {
      const auto value = [&](unsigned v) { return std::bit_cast<float>(values_[t][v]); };
      for (unsigned v = 0; v < n_ / 2; ++v) see(row(t, v), column(t, v), value(v));
      for (unsigned v = n_ / 2; v < 128; ++v) ASSERT_EQ(value(v), canary);
    }
  }

 private:
  static constexpr float canary = -123456.0f;
  static unsigned row(unsigned t, unsigned v) {
    return 16 * (t / 32) + t % 32 / 4 + 8 * (v / 2 % 2);
  }
  static unsigned column(unsigned t, unsigned v) { return 2 * (t % 4) + v % 2 + 8 * (v / 4); }

  void place(const MatrixDescriptor& descriptor, const std::uint16_t (*elements)[16], unsigned rows,
             const std::byte** chunks) {
    for (unsigned r = 0; r < rows; ++r) {
      for (unsigned chunk = 0; chunk < 2; ++chunk) {
        std::byte* target = &shared_[operand_chunk(descriptor, r, chunk)];
        std::memcpy(target, &elements[r][8 * chunk], 16);
        chunks[2 * r + chunk] = target;
      }
    }
  }

  unsigned n_;
  std::vector<std::byte> shared_ = std::vector<std::byte>(0x10000);
  std::uint32_t registers_[128][4];
  std::uint32_t values_[128][128];
  std::uint32_t* fragments_[128];
  WgmmaOperands operands_;
};

double naive(const Problem& problem, unsigned m, unsigned n, bool accumulate) {
  double sum = accumulate ? problem.c[m][n] : 0.0;
  for (unsigned k = 0; k < 16; ++k) sum += double{value(problem.a[m][k])} * value(problem.b[n][k]);
  return sum;
}

void expect_naive(const Problem& problem, const Warpgroup& group, bool accumulate) {
  group.for_each_result([&](unsigned m, unsigned n, float found) {
    ASSERT_EQ(found, naive(problem, m, n, accumulate)) << "m " << m << ", n " << n;
  });
}

TEST(Wgmma, IsExactOnIntegersForEveryShapeAndSource) {
  for (unsigned n = 8; n <= 256; n += 8) {
    const Problem problem = small_integers(n);
    for (Product product : {wgmma_m64, wgmma_m64_exact}) {
      for (bool accumulate : {false, true}) {
        for (unsigned source = 0; source < 5; ++source) {  // four swizzles, and registers
          SCOPED_TRACE(testing::Message() << "n " << n << ", source " << source);
          Warpgroup group(problem, n, static_cast<MapSwizzle>(source % 4));
          if (source == 4) group.read_a_from_registers();
          group.multiply(product, accumulate);
          expect_naive(problem, group, accumulate);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Wgmma, AccumulatesStepByStep) {
  const Problem first = small_integers(1);
  Warpgroup group(first, 64, MapSwizzle::Bytes128);
  group.multiply(wgmma_m64, false);
  group.multiply(wgmma_m64, true);
  group.for_each_result([&](unsigned m, unsigned n, float found) {
    ASSERT_EQ(found, 2 * naive(first, m, n, false));
  });
}

TEST(Wgmma, DoesNotReadAccumulatorsItDoesNotAdd) {
  Problem problem = small_integers(2);
  for (auto& row : problem.c) {
    for (auto& element : row) element = std::bit_cast<float>(0x7fc00000);
  }
  for (Product product : {wgmma_m64, wgmma_m64_exact}) {
    Warpgroup group(problem, 32, MapSwizzle::Bytes64);
    group.multiply(product, false);
    expect_naive(problem, group, false);
  }
}

TEST(Wgmma, RoundsAsTheHardwareDoes) {
  for (const hardware::Sum& sum : hardware::sums) {
    Problem problem;
    for (unsigned k = 0; k < 16; ++k) {
      for (auto& row : problem.a) row[k] = sum.a[k];
      for (auto& row : problem.b) row[k] = sum.b[k];
    }
    for (auto& row : problem.c) {
      for (auto& element : row) element = std::bit_cast<float>(sum.c);
    }
    Warpgroup group(problem, 8, MapSwizzle::Bytes32);
    group.multiply(wgmma_m64_exact, true);
    group.for_each_result([&](unsigned m, unsigned n, float found) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(found), sum.d)
          << sum.rule << ", m " << m << ", n " << n;
    });
  }
}

// No sum exceeds 22, so 16 roundings to nearest err by less than 16 * 22 * 2^-24 < 2^-15.
TEST(Wgmma, FastStaysCloseToExact) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> numerator(-128, 127);
  Problem problem;
  for (auto& row : problem.a) {
    for (auto& element : row) element = bf16(static_cast<float>(numerator(random)) / 128);
  }
  for (auto& row : problem.b) {
    for (auto& element : row) element = bf16(static_cast<float>(numerator(random)) / 97);
  }
  Warpgroup fast(problem, 256, MapSwizzle::Bytes128), exact(problem, 256, MapSwizzle::Bytes128);
  fast.multiply(wgmma_m64, true);
  exact.multiply(wgmma_m64_exact, true);
  for (Warpgroup* group : {&fast, &exact}) {
    group->for_each_result([&](unsigned m, unsigned n, float found) {
      ASSERT_NEAR(found, naive(problem, m, n, true), 1.0 / (1 << 15));
    });
  }
}

TEST(Wgmma, RefusesOtherShapes) {
  const Problem problem;
  for (unsigned n : {0u, 4u, 12u, 264u}) {
    Warpgroup group(problem, 256, MapSwizzle::None);
    std::uint32_t* fragments[128] = {};
    const WgmmaOperands operands = {};
    EXPECT_THROW(wgmma_m64({.n = n}, fragments, operands, true), Refusal);
    EXPECT_THROW(wgmma_m64_exact({.n = n}, fragments, operands, true), Refusal);
  }
}

}  // namespace
