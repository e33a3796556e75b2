// mfma on waves of 64 lanes: every shape against the tables of AMD's ISA guides, written out here a
// second time.
#include "tilewright/isa/amdgcn/mfma.h"

#include <random>

#include "tests/vgpu/support.h"
#include "tilewright/isa/amdgcn/mfma_scaled.h"
#include "tilewright/number/narrow_float.h"

namespace tw::test {
namespace {

constexpr unsigned wave = 64;

std::uint32_t code_of(MfmaType type, int value) {
  const auto number = static_cast<float>(value);
  switch (type) {
    case MfmaType::Bf16: return Bf16(number).bits;
    case MfmaType::F16: return Fp16(number).bits;
    case MfmaType::E4m3: return E4m3(number).bits;
    case MfmaType::E5m2: return E5m2(number).bits;
    case MfmaType::E4m3Fnuz: return E4m3Fnuz(number).bits;
    case MfmaType::E5m2Fnuz: return E5m2Fnuz(number).bits;
    case MfmaType::S8: return static_cast<std::uint8_t>(value);
    case MfmaType::E2m3: return E2m3(number).bits;
    case MfmaType::E3m2: return E3m2(number).bits;
    case MfmaType::E2m1: return E2m1(number).bits;
  }
  return 0;
}

// Where the guides put things: of 16 rows, lane group g = l / 16; of 32 rows, g = l / 32.
struct Table {
  unsigned rows, elements;
  unsigned outer(unsigned lane) const { return rows == 16 ? lane & 15 : lane & 31; }
  unsigned group(unsigned lane) const { return rows == 16 ? lane >> 4 : lane >> 5; }
  // A lane has two runs of 16 of 128 of k, 64 apart.
  unsigned k(unsigned lane, unsigned element) const {
    if (elements == 32) return group(lane) * 16 + (element & 15) + (element >= 16 ? 64 : 0);
    return group(lane) * elements + element;
  }
  unsigned sum_row(unsigned lane, unsigned sum) const {
    if (rows == 16) return 4 * group(lane) + sum;
    return sum / 4 * 8 + group(lane) * 4 + (sum & 3);
  }
};

// d = c + a b of small integers, by one wave; returns the sums as [row][column].
template <MfmaShape shape>
void multiplies_exactly(Table table, unsigned seed) {
  SCOPED_TRACE(testing::Message() << "rows " << shape.rows << " k " << shape.k << " type "
                                  << static_cast<int>(shape.a) << " seed " << seed);
  ASSERT_EQ(table.elements, shape.elements());
  std::mt19937 random(seed);
  const auto draw = [&] { return static_cast<int>(random() % 7) - 3; };
  std::vector<int> a(shape.rows * shape.k), b(a.size()), c(shape.rows * shape.rows);
  for (int& value : a) value = draw();
  for (int& value : b) value = draw();
  for (int& value : c) value = draw();
  std::vector<int> got(c.size(), 12345);
  const Report report = Kernel{.threads = wave, .lanes = wave}.run([&] {
    const unsigned lane = isa::thread_index();
    std::uint32_t a_registers[shape.registers()] = {}, b_registers[shape.registers()] = {};
    for (unsigned e = 0; e < table.elements; ++e) {
      const unsigned bits = 8 * bytes_of(shape.a);
      const unsigned at = table.outer(lane) * shape.k + table.k(lane, e);
      a_registers[e * bits / 32] |= code_of(shape.a, a[at]) << (e * bits % 32);
      b_registers[e * bits / 32] |= code_of(shape.b, b[at]) << (e * bits % 32);
    }
    isa::MfmaSum<shape> sums[shape.sums()];
    for (unsigned i = 0; i < shape.sums(); ++i) {
      sums[i] = static_cast<isa::MfmaSum<shape>>(
          c[table.sum_row(lane, i) * shape.rows + table.outer(lane)]);
    }
    isa::mfma<shape>(sums, a_registers, b_registers);
    for (unsigned i = 0; i < shape.sums(); ++i) {
      got[table.sum_row(lane, i) * shape.rows + table.outer(lane)] = static_cast<int>(sums[i]);
    }
  });
  EXPECT_TRUE(clean(report));
  for (unsigned row = 0; row < shape.rows; ++row) {
    for (unsigned column = 0; column < shape.rows; ++column) {
      int expected = c[row * shape.rows + column];
      for (unsigned k = 0; k < shape.k; ++k) {
        expected += a[row * shape.k + k] * b[column * shape.k + k];
      }
      EXPECT_EQ(got[row * shape.rows + column], expected) << row << ", " << column;
    }
  }
}

template <MfmaType a, MfmaType b = a>
void of_8_bits() {
  multiplies_exactly<MfmaShape{a, b, 16, 32}>({16, 8}, 7);
  multiplies_exactly<MfmaShape{a, b, 32, 16}>({32, 8}, 8);
}
template <MfmaType type>
void of_16_bits() {
  multiplies_exactly<MfmaShape{type, type, 16, 16}>({16, 4}, 1);
  multiplies_exactly<MfmaShape{type, type, 32, 8}>({32, 4}, 2);
  multiplies_exactly<MfmaShape{type, type, 16, 32}>({16, 8}, 3);
  multiplies_exactly<MfmaShape{type, type, 32, 16}>({32, 8}, 4);
}

// Small integers times powers of two, of which each of 32 of k has its own. The measured table of
// the vendor's tests: of 8-bit elements a lane has two runs of 16 of k, 64 apart, of narrower ones
// a run of 32, and scales lie 16 lanes apart.
template <MfmaType a_type, MfmaType b_type>
void multiplies_with_scales(unsigned seed) {
  SCOPED_TRACE(testing::Message() << "types " << static_cast<int>(a_type) << " and "
                                  << static_cast<int>(b_type) << " seed " << seed);
  constexpr unsigned rows = 16, depth = 128;
  std::mt19937 random(seed);
  std::vector<int> a(rows * depth), b(a.size()), a_scales(rows * 4), b_scales(rows * 4);
  for (auto* values : {&a, &b}) {
    for (int& value : *values) value = static_cast<int>(random() % 7) - 3;
  }
  for (auto* values : {&a_scales, &b_scales}) {
    for (int& value : *values) value = static_cast<int>(random() % 4);
  }
  std::vector<float> got(rows * rows);
  const Report report = Kernel{.threads = wave, .lanes = wave}.run([&] {
    const unsigned lane = isa::thread_index(), row = lane & 15, group = lane >> 4;
    constexpr MfmaScaledShape shape = {a_type, b_type};
    std::uint32_t a_registers[shape.registers(a_type)], b_registers[shape.registers(b_type)];
    const auto fill = [&](auto& registers, MfmaType type, const std::vector<int>& from) {
      std::vector<bool> bits;
      for (unsigned e = 0; e < 32; ++e) {
        const unsigned of_bytes = group * 16 + (e & 15) + (e >= 16 ? 64 : 0);
        const unsigned k = bits_in(type) == 8 ? of_bytes : group * 32 + e;
        const std::uint32_t code = code_of(type, from[row * depth + k]);
        for (unsigned i = 0; i < bits_in(type); ++i) bits.push_back(code >> i & 1);
      }
      ASSERT_EQ(bits.size(), 32 * std::size(registers));
      for (unsigned i = 0; i < std::size(registers); ++i) {
        registers[i] = 0;
        for (unsigned j = 0; j < 32; ++j) registers[i] |= std::uint32_t{bits[32 * i + j]} << j;
      }
    };
    fill(a_registers, a_type, a);
    fill(b_registers, b_type, b);
    // What the upper bytes are does not matter.
    const auto scale = [&](const std::vector<int>& scales) {
      return 0xabcd0000u + 0x7f + static_cast<unsigned>(scales[row * 4 + group]);
    };
    float sums[4] = {1, 2, 3, 4};
    isa::mfma_scaled<shape>(sums, a_registers, b_registers, scale(a_scales), scale(b_scales));
    for (unsigned i = 0; i < 4; ++i) got[(4 * group + i) * rows + row] = sums[i];
  });
  EXPECT_TRUE(clean(report));
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < rows; ++column) {
      int expected = static_cast<int>(row % 4) + 1;
      for (unsigned k = 0; k < depth; ++k) {
        expected += a[row * depth + k] * b[column * depth + k]
                    << (a_scales[row * 4 + k / 32] + b_scales[column * 4 + k / 32]);
      }
      EXPECT_EQ(got[row * rows + column], static_cast<float>(expected)) << row << ", " << column;
    }
  }
}

TEST(Mfma, MultipliesWithBlockScales) {
  multiplies_with_scales<MfmaType::E4m3, MfmaType::E4m3>(1);
  multiplies_with_scales<MfmaType::E5m2, MfmaType::E4m3>(2);
  multiplies_with_scales<MfmaType::E4m3, MfmaType::E5m2>(3);
  multiplies_with_scales<MfmaType::E2m3, MfmaType::E2m3>(4);
  multiplies_with_scales<MfmaType::E3m2, MfmaType::E4m3>(5);
  multiplies_with_scales<MfmaType::E2m1, MfmaType::E2m1>(6);
  multiplies_with_scales<MfmaType::E5m2, MfmaType::E2m1>(7);
  static_assert(!MfmaShape{MfmaType::E2m1, MfmaType::E2m1, 16, 32}.is_legal());
  static_assert(!MfmaScaledShape{MfmaType::E4m3Fnuz, MfmaType::E4m3}.is_legal());
  static_assert(!MfmaScaledShape{MfmaType::Bf16, MfmaType::Bf16}.is_legal());
}

TEST(Mfma, Multiplies128OfK) {
  multiplies_exactly<MfmaShape{MfmaType::E4m3, MfmaType::E4m3, 16, 128}>({16, 32}, 11);
  multiplies_exactly<MfmaShape{MfmaType::E5m2, MfmaType::E4m3, 16, 128}>({16, 32}, 12);
  multiplies_exactly<MfmaShape{MfmaType::E4m3, MfmaType::E5m2, 16, 128}>({16, 32}, 13);
  // Four elements of the vendor's table of 16 by 128: lane, element, k.
  constexpr MfmaShape shape = {MfmaType::E4m3, MfmaType::E4m3, 16, 128};
  static_assert(shape.k_of(0, 15) == 15 && shape.k_of(0, 16) == 64);
  static_assert(shape.k_of(63, 0) == 48 && shape.k_of(37, 31) == 111);
}

TEST(Mfma, Multiplies16BitTypes) {
  of_16_bits<MfmaType::Bf16>();
  of_16_bits<MfmaType::F16>();
}

TEST(Mfma, Multiplies8BitTypes) {
  of_8_bits<MfmaType::S8>();
  of_8_bits<MfmaType::E4m3>();
  of_8_bits<MfmaType::E5m2, MfmaType::E4m3>();
  of_8_bits<MfmaType::E4m3Fnuz>();
  of_8_bits<MfmaType::E4m3Fnuz, MfmaType::E5m2Fnuz>();
}

// Single elements, as the tables have them: lane, element, row and k of A; lane, register, row and
// column of D.
TEST(Mfma, PutsElementsWhereTheTablesSay) {
  constexpr MfmaShape small = {MfmaType::Bf16, MfmaType::Bf16, 16, 32};
  constexpr MfmaShape large = {MfmaType::Bf16, MfmaType::Bf16, 32, 16};
  const auto run = [](auto shape_of, unsigned a_lane, unsigned element, unsigned k, unsigned row) {
    constexpr MfmaShape shape = shape_of();
    EXPECT_TRUE(clean(Kernel{.threads = wave, .lanes = wave}.run([&] {
      const unsigned lane = isa::thread_index();
      // A has a single one; B's element (k, column) is k + 1: the row of the one holds its k + 1.
      std::uint32_t a[shape.registers()] = {}, b[shape.registers()] = {};
      if (lane == a_lane) a[element / 2] = std::uint32_t{Bf16(1.0f).bits} << element % 2 * 16;
      for (unsigned e = 0; e < shape.elements(); ++e) {
        const auto value = static_cast<float>(lane / shape.rows * shape.elements() + e + 1);
        b[e / 2] |= std::uint32_t{Bf16(value).bits} << e % 2 * 16;
      }
      float d[shape.sums()] = {};
      isa::mfma<shape>(d, a, b);
      for (unsigned i = 0; i < shape.sums(); ++i) {
        const bool here = shape.sum_row(lane, i) == row;
        EXPECT_EQ(d[i], here ? static_cast<float>(k + 1) : 0.0f) << lane << ", " << i;
      }
    })));
  };
  run([] { return small; }, 0, 0, 0, 0);
  run([] { return small; }, 37, 3, 19, 5);
  run([] { return small; }, 63, 7, 31, 15);
  run([] { return large; }, 31, 5, 5, 31);
  run([] { return large; }, 33, 6, 14, 1);
  static_assert(small.sum_row(37, 3) == 11 && large.sum_row(0, 4) == 8);
  static_assert(large.sum_row(40, 0) == 4 && large.sum_row(40, 15) == 31);
}

TEST(Mfma, NeedsAWholeWaveAndOneShape) {
  constexpr MfmaShape shape = {MfmaType::Bf16, MfmaType::Bf16, 16, 16};
  constexpr MfmaShape other = {MfmaType::F16, MfmaType::F16, 16, 16};
  const auto product = [] {
    std::uint32_t a[2] = {}, b[2] = {};
    float d[4] = {};
    isa::thread_index() == 40 ? isa::mfma<other>(d, a, b) : isa::mfma<shape>(d, a, b);
  };
  EXPECT_TRUE(found(Kernel{.threads = 32}.run(product), Checker::Divergence,
                    "executes mfma in a warp of 32 lanes; it takes 64"));
  EXPECT_TRUE(
      found(Kernel{.threads = wave, .lanes = wave}.run(product), Checker::Divergence, "lane 40"));
}

TEST(Mfma, HasTheShapesOfCdna) {
  constexpr MfmaType bf16 = MfmaType::Bf16, e4m3 = MfmaType::E4m3, fnuz = MfmaType::E5m2Fnuz;
  static_assert(!MfmaShape{bf16, bf16, 16, 64}.is_legal());
  static_assert(!MfmaShape{bf16, bf16, 32, 32}.is_legal());
  static_assert(!MfmaShape{bf16, bf16, 8, 16}.is_legal());
  static_assert(!MfmaShape{bf16, MfmaType::F16, 16, 16}.is_legal());
  static_assert(!MfmaShape{e4m3, e4m3, 16, 16}.is_legal());
  static_assert(!MfmaShape{e4m3, fnuz, 16, 32}.is_legal());
  static_assert(MfmaShape{e4m3, MfmaType::E5m2, 32, 16}.is_legal());
  static_assert(!MfmaShape{bf16, bf16, 16, 128}.is_legal());
  static_assert(!MfmaShape{fnuz, fnuz, 16, 128}.is_legal());
  static_assert(!MfmaShape{e4m3, e4m3, 32, 128}.is_legal());
}

}  // namespace
}  // namespace tw::test
