// wgmma of every kind: types, majors, and the exact arithmetic against a plain formula.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tilewright/base/require.h"
#include "vgpu/data/matrix_descriptor.h"
#include "vgpu/data/wgmma.h"

namespace {

using namespace tw;
using namespace tw::vgpu;
using Type = ElementType;

constexpr WgmmaShape kinds[] = {
    {Type::Bf16, Type::Bf16},          {Type::Bf16, Type::Bf16, 8, 1, 0},
    {Type::Bf16, Type::Bf16, 8, 0, 1}, {Type::Bf16, Type::Bf16, 8, 1, 1},
    {Type::Fp16, Type::Fp16},          {Type::Fp16, Type::Fp16, 8, 1, 0},
    {Type::Fp16, Type::Fp16, 8, 0, 1}, {Type::Fp16, Type::Fp16, 8, 1, 1},
    {Type::Tf32, Type::Tf32},          {Type::E4m3, Type::E4m3},
    {Type::E4m3, Type::E5m2},          {Type::E5m2, Type::E4m3},
    {Type::E5m2, Type::E5m2},          {Type::S8, Type::S8},
};

std::string name_of_kind(const WgmmaShape& shape) {
  return std::string(name_of(shape.a)) + (shape.a_transposed ? "_t" : "") + "_" + name_of(shape.b) +
         (shape.b_transposed ? "_t" : "");
}

// The code of a value that the type holds exactly.
std::uint32_t code_of(Type type, double value) {
  const auto number = static_cast<float>(value);
  switch (type) {
    case Type::Bf16: return Bf16(number).bits;
    case Type::Fp16: return Fp16(number).bits;
    case Type::Tf32: return std::bit_cast<std::uint32_t>(number);
    case Type::E4m3: return E4m3(number).bits;
    case Type::E5m2: return E5m2(number).bits;
    default: return static_cast<std::uint8_t>(static_cast<std::int8_t>(value));
  }
}

// a is 64 x k, b is n x k, c is 64 x n.
struct Problem {
  explicit Problem(const WgmmaShape& shape) : shape(shape) {}
  WgmmaShape shape;
  double a[64][32] = {}, b[256][32] = {};
  std::uint32_t a_codes[64][32] = {}, b_codes[256][32] = {};
  std::uint32_t c[64][256] = {};  // bits of float or int32

  void set_a(unsigned m, unsigned k, double value) {
    a[m][k] = value;
    a_codes[m][k] = code_of(shape.a, value);
  }
  void set_b(unsigned n, unsigned k, double value) {
    b[n][k] = value;
    b_codes[n][k] = code_of(shape.b, value);
  }
};

// Operands in memory with the swizzle of 128 bytes, and the result in fragments.
class Warpgroup {
 public:
  explicit Warpgroup(const Problem& problem) : shape_(problem.shape) {
    place(problem.a_codes, 64, shape_.a, shape_.a_transposed, 0, operands_.a_chunks);
    place(problem.b_codes, shape_.n, shape_.b, shape_.b_transposed, 0x4000, operands_.b_chunks);
    operands_.a_from_registers = false;
    for (unsigned t = 0; t < 128; ++t) {
      fragments_[t] = values_[t];
      for (unsigned v = 0; v < shape_.n / 2; ++v) {
        values_[t][v] = problem.c[row(t, v)][column(t, v)];
      }
    }
  }
  const WgmmaOperands& operands() const { return operands_; }
  std::uint32_t* const* fragments() const { return fragments_; }
  // Calls see(m, n, bits) for every result.
  template <class See>
  void for_each_result(See&& see) const {
    for (unsigned t = 0; t < 128; ++t) {
      for (unsigned v = 0; v < shape_.n / 2; ++v) see(row(t, v), column(t, v), values_[t][v]);
    }
  }

 private:
  static unsigned row(unsigned t, unsigned v) {
    return 16 * (t / 32) + t % 32 / 4 + 8 * (v / 2 % 2);
  }
  static unsigned column(unsigned t, unsigned v) { return 2 * (t % 4) + v % 2 + 8 * (v / 4); }

  // Where an element lies, written out: K-major, a row of 128 bytes whose chunks are permuted by
  // the row; MN-major, boxes of 64 elements by 16 k, whose lines of one k are permuted by k.
  static unsigned address_of(unsigned row, unsigned k, unsigned bytes, bool transposed) {
    if (transposed) {
      return row / 64 * 2048 + k * 128 + ((row % 64 / 8) ^ (k % 8)) * 16 + row % 8 * 2;
    }
    return row * 128 + ((k * bytes / 16) ^ (row % 8)) * 16 + k * bytes % 16;
  }
  void place(const std::uint32_t (*codes)[32], unsigned rows, Type type, bool transposed,
             unsigned begin, const std::byte** chunks) {
    const unsigned bytes = bytes_of(type);
    for (unsigned r = 0; r < rows; ++r) {
      for (unsigned k = 0; k < 32 / bytes; ++k) {
        std::memcpy(&shared_[begin + address_of(r, k, bytes, transposed)], &codes[r][k], bytes);
      }
    }
    const MatrixDescriptor descriptor = {begin, transposed ? 2048u : 16u, 1024, 0,
                                         MapSwizzle::Bytes128};
    for (unsigned index = 0; index < 2 * rows; ++index) {
      chunks[index] = &shared_[chunk_at(descriptor, transposed, index)];
    }
  }

  WgmmaShape shape_;
  std::vector<std::byte> shared_ = std::vector<std::byte>(0x10000);
  std::uint32_t values_[128][128];
  std::uint32_t* fragments_[128];
  WgmmaOperands operands_;
};

Problem small_integers(const WgmmaShape& shape, unsigned seed) {
  std::mt19937 random(seed);
  Problem problem(shape);
  const bool is_fp8 = bytes_of(shape.a) == 1 && shape.a != Type::S8;
  const int limit = shape.a == Type::S8 ? 128 : is_fp8 ? 4 : 64;
  const auto integer = [&](int most) { return static_cast<int>(random() % (2 * most)) - most; };
  for (unsigned k = 0; k < shape.k(); ++k) {
    for (unsigned m = 0; m < 64; ++m) problem.set_a(m, k, integer(limit));
    for (unsigned n = 0; n < shape.n; ++n) problem.set_b(n, k, integer(limit));
  }
  for (auto& row : problem.c) {
    for (auto& bits : row) {
      // Any bits: integers wrap around. Sums of fp8 keep 14 bits.
      bits =
          shape.a == Type::S8
              ? static_cast<std::uint32_t>(random())
              : std::bit_cast<std::uint32_t>(static_cast<float>(integer(is_fp8 ? 4000 : 100000)));
    }
  }
  return problem;
}

std::uint32_t naive(const Problem& problem, unsigned m, unsigned n, bool accumulate) {
  if (problem.shape.a == Type::S8) {
    std::int64_t sum = accumulate ? problem.c[m][n] : 0;
    for (unsigned k = 0; k < 32; ++k) {
      sum += static_cast<std::int64_t>(problem.a[m][k] * problem.b[n][k]);
    }
    return static_cast<std::uint32_t>(sum);
  }
  double sum = accumulate ? std::bit_cast<float>(problem.c[m][n]) : 0.0f;
  for (unsigned k = 0; k < 32; ++k) sum += problem.a[m][k] * problem.b[n][k];
  return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
}

TEST(WgmmaKinds, AreExactOnIntegers) {
  for (WgmmaShape shape : kinds) {
    for (unsigned n : {8u, 16u, 64u, 96u, 192u, 256u}) {
      shape.n = n;
      const Problem problem = small_integers(shape, n);
      for (auto product : {wgmma_m64, wgmma_m64_exact}) {
        for (bool accumulate : {false, true}) {
          SCOPED_TRACE(testing::Message() << name_of_kind(shape) << ", n " << n);
          Warpgroup group(problem);
          product(shape, group.fragments(), group.operands(), accumulate);
          group.for_each_result([&](unsigned m, unsigned column, std::uint32_t bits) {
            const std::uint32_t wanted = naive(problem, m, column, accumulate);
            if (shape.a == Type::S8) {
              ASSERT_EQ(bits, wanted) << "m " << m << ", n " << column;
            } else {  // a zero may have either sign in the sum of a plain loop
              ASSERT_EQ(std::bit_cast<float>(bits), std::bit_cast<float>(wanted))
                  << "m " << m << ", n " << column;
            }
          });
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(WgmmaKinds, IgnoreTheLowBitsOfTf32) {
  const WgmmaShape shape = {Type::Tf32, Type::Tf32, 32};
  const Problem clean = small_integers(shape, 1);
  Problem dirty = clean;
  for (auto& row : dirty.a_codes) {
    for (auto& code : row) code |= 0x1fff;
  }
  for (auto& row : dirty.b_codes) {
    for (auto& code : row) code |= 0x0aaa;
  }
  for (auto product : {wgmma_m64, wgmma_m64_exact}) {
    Warpgroup group(dirty);
    product(shape, group.fragments(), group.operands(), true);
    group.for_each_result([&](unsigned m, unsigned n, std::uint32_t bits) {
      ASSERT_EQ(bits, naive(clean, m, n, true));
    });
  }
}

// The exponent of a value as the hardware sees it: subnormals keep that of the smallest normal.
int exponent_of(Type type, double value) {
  const int lowest = type == Type::Fp16 || type == Type::E5m2 ? -14
                     : type == Type::E4m3                     ? -6
                                                              : -126;
  return std::max(std::ilogb(value), lowest);
}

// The rule in doubles: every term cut to `kept` bits below the largest exponent.
double by_the_rule(const Problem& problem, unsigned m, unsigned n) {
  const bool is_fp8 = bytes_of(problem.shape.a) == 1;
  const int kept = is_fp8 ? 13 : 25;
  const double c = std::bit_cast<float>(problem.c[m][n]);
  int largest = c == 0 ? -133 : exponent_of(Type::Fp32, c);
  const auto exponent = [&](unsigned k) {
    return exponent_of(problem.shape.a, problem.a[m][k]) +
           exponent_of(problem.shape.b, problem.b[n][k]);
  };
  for (unsigned k = 0; k < problem.shape.k(); ++k) {
    if (problem.a[m][k] * problem.b[n][k] != 0) largest = std::max(largest, exponent(k));
  }
  double sum = std::trunc(std::ldexp(c, kept - largest));
  for (unsigned k = 0; k < problem.shape.k(); ++k) {
    sum += std::trunc(std::ldexp(problem.a[m][k] * problem.b[n][k], kept - largest));
  }
  sum = std::ldexp(sum, largest - kept);
  if (sum == 0) return 0;
  const int unit = std::max(std::ilogb(sum), -126) - (is_fp8 ? 13 : 23);
  return std::ldexp(std::trunc(std::ldexp(sum, -unit)), unit);
}

TEST(WgmmaKinds, RoundByTheRule) {
  std::mt19937 random(7);
  for (WgmmaShape shape : kinds) {
    if (shape.a == Type::S8) continue;
    shape.n = 16;
    for (unsigned round = 0; round < 8; ++round) {
      Problem problem(shape);
      // Every finite code of 8 bits; of the others, values within a few binades.
      const auto value = [&](Type type) -> double {
        if (type == Type::E4m3 || type == Type::E5m2) {
          for (;;) {
            const auto code = static_cast<std::uint8_t>(random());
            const float number = type == Type::E4m3 ? static_cast<float>(E4m3::from_bits(code))
                                                    : static_cast<float>(E5m2::from_bits(code));
            if (std::isfinite(number)) return number;
          }
        }
        const int binades = round % 2 == 0 ? 3 : 18;
        const double number = std::ldexp(static_cast<double>(random() % 256) - 128,
                                         -7 - static_cast<int>(random() % binades));
        return number;
      };
      for (unsigned k = 0; k < shape.k(); ++k) {
        for (unsigned m = 0; m < 64; ++m) problem.set_a(m, k, value(shape.a));
        for (unsigned n = 0; n < shape.n; ++n) problem.set_b(n, k, value(shape.b));
      }
      for (auto& row : problem.c) {
        for (auto& bits : row) {
          bits = round == 7 ? 0
                            : std::bit_cast<std::uint32_t>(
                                  std::ldexp(static_cast<float>(static_cast<int>(random())), -30));
        }
      }
      Warpgroup group(problem);
      wgmma_m64_exact(shape, group.fragments(), group.operands(), true);
      group.for_each_result([&](unsigned m, unsigned n, std::uint32_t bits) {
        ASSERT_EQ(std::bit_cast<float>(bits), by_the_rule(problem, m, n))
            << name_of_kind(shape) << ", round " << round << ", m " << m << ", n " << n;
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(WgmmaKinds, SpecialValuesSpread) {
  for (WgmmaShape shape : kinds) {
    if (shape.a == Type::S8) continue;
    Problem problem(shape);
    for (unsigned k = 0; k < shape.k(); ++k) {
      for (unsigned m = 0; m < 64; ++m) problem.set_a(m, k, 1);
      for (unsigned n = 0; n < shape.n; ++n) problem.set_b(n, k, 1);
    }
    const auto nan = code_of(shape.a, NAN);
    problem.a_codes[5][2] = nan;
    const bool has_infinity = shape.a != Type::E4m3;
    if (has_infinity) {
      problem.a_codes[6][1] = shape.a == Type::E5m2   ? 0xfc
                              : shape.a == Type::Fp16 ? 0xfc00
                              : shape.a == Type::Bf16 ? 0xff80
                                                      : 0xff800000;
    }
    Warpgroup group(problem);
    wgmma_m64_exact(shape, group.fragments(), group.operands(), false);
    group.for_each_result([&](unsigned m, unsigned, std::uint32_t bits) {
      const float found = std::bit_cast<float>(bits);
      if (m == 5) {
        ASSERT_EQ(bits, 0x7fffffffu) << name_of_kind(shape);
      } else if (m == 6 && has_infinity) {
        ASSERT_EQ(found, -INFINITY) << name_of_kind(shape);
      } else {
        ASSERT_EQ(found, static_cast<float>(shape.k())) << name_of_kind(shape);
      }
    });
  }
}

// What makes promotion worthwhile: the hardware's sums of fp8 have 14 bits.
TEST(WgmmaKinds, SumsOfFp8AreShort) {
  const WgmmaShape shape = {Type::E4m3, Type::E4m3, 8};
  Problem problem(shape);
  problem.set_a(0, 0, 1);
  problem.set_b(0, 0, 1);
  problem.c[0][0] = std::bit_cast<std::uint32_t>(16384.0f);
  const auto first = [&](auto product) {
    Warpgroup group(problem);
    product(shape, group.fragments(), group.operands(), true);
    return std::bit_cast<float>(group.fragments()[0][0]);
  };
  EXPECT_EQ(first(wgmma_m64), 16385.0f);
  EXPECT_EQ(first(wgmma_m64_exact), 16384.0f);
}

// What the sums of many keys lose that never join in float32: all of equal weights behind the
// first 2^14. Those of 640 keys, which do, lose nothing here.
TEST(WgmmaKinds, SumsOfFp8EndAtEqualWeights) {
  const WgmmaShape shape = {Type::E4m3, Type::E4m3, 8};
  Problem problem(shape);
  for (unsigned k = 0; k < shape.k(); ++k) {
    problem.set_a(0, k, 256);
    problem.set_b(0, k, 1);
  }
  constexpr unsigned products = 1024;
  const auto sum_of = [&](unsigned joined_products) {
    float joined = 0;
    Warpgroup group(problem);
    std::uint32_t& sum = group.fragments()[0][0];
    for (unsigned i = 0; i < products; ++i) {
      const bool starts = i % joined_products == 0;
      if (starts && i > 0) joined += std::bit_cast<float>(sum);
      wgmma_m64_exact(shape, group.fragments(), group.operands(), !starts);
    }
    return joined + std::bit_cast<float>(sum);
  };
  EXPECT_EQ(sum_of(20), 256.0f * 32 * products);
  EXPECT_EQ(sum_of(products), 256.0f * (1 << 14));
}

// The bound of docs/attention.md: each product of 32 keys loses up to 34 * 2^-13 of the sum of all
// magnitudes, whatever joins in float32 between them.
TEST(WgmmaKinds, SumsOfFp8KeepTheBoundOfAttention) {
  std::mt19937 random(20);
  const WgmmaShape shape = {Type::E4m3, Type::E4m3, 8};
  for (const unsigned joined_products : {3u, 4u, 20u, 128u}) {
    double worst = 0, sum = 0, magnitude = 0;
    float joined = 0, found = 0;
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < 128; ++i) {
      Problem problem(shape);
      const bool starts = i % joined_products == 0;
      if (starts) joined += std::bit_cast<float>(bits);
      problem.c[0][0] = starts ? 0 : bits;
      for (unsigned k = 0; k < shape.k(); ++k) {
        const int weight = static_cast<int>(random() % 16) + 1;  // e4m3 has it, and 1/8 of it
        const int value = static_cast<int>(random() % 16) - 3;
        problem.set_a(0, k, weight);
        problem.set_b(0, k, value / 8.0);
        sum += weight * value / 8.0;
        magnitude += weight * std::abs(value) / 8.0;
      }
      Warpgroup group(problem);
      wgmma_m64_exact(shape, group.fragments(), group.operands(), true);
      bits = group.fragments()[0][0];
      found = joined + std::bit_cast<float>(bits);
      worst = std::max(worst, std::abs(found - sum) / magnitude);
    }
    EXPECT_LE(worst, joined_products * 34 * 0x1p-13) << joined_products;
    if (joined_products >= 20) {
      EXPECT_GT(worst, 0x1p-13) << joined_products << " products lose nothing";
    }
  }
}

TEST(WgmmaKinds, RefuseWhatNoInstructionDoes) {
  const WgmmaShape illegal[] = {
      {Type::Bf16, Type::Fp16, 8},       {Type::Fp32, Type::Fp32, 8},
      {Type::E4m3, Type::S8, 8},         {Type::S8, Type::S8, 40},
      {Type::E4m3, Type::E4m3, 8, 1, 0}, {Type::Tf32, Type::Tf32, 8, 0, 1}};
  const WgmmaOperands operands = {};
  std::uint32_t* fragments[128] = {};
  for (const WgmmaShape& shape : illegal) {
    EXPECT_THROW(wgmma_m64(shape, fragments, operands, false), Refusal) << name_of_kind(shape);
    EXPECT_THROW(wgmma_m64_exact(shape, fragments, operands, false), Refusal);
  }
}

}  // namespace
