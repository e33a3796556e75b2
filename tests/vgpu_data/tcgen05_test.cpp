// tcgen05: descriptors decoded bit by bit, places in tensor memory, and the numbers of products.
#include "vgpu/data/tcgen05.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include "tilewright/base/require.h"
#include "tilewright/number/narrow_float.h"

namespace tw::vgpu {
namespace {

using isa::OperandMajor;
using isa::OperandSwizzle;
namespace format = isa::mma_format;

constexpr OperandSwizzle every_swizzle[] = {OperandSwizzle::None, OperandSwizzle::Bytes32,
                                            OperandSwizzle::Bytes64, OperandSwizzle::Bytes128};

// How an operand of `rows` x 32 bytes lies in a shared memory of its own: PTX's canonical layouts.
struct Placement {
  OperandMajor major;
  OperandSwizzle swizzle;
  unsigned rows, element;  // bytes

  unsigned span() const { return isa::span_of(swizzle); }
  // Patterns that follow one another, apart from a gap that a wrong stride would run into.
  unsigned pattern() const { return 8 * span(); }
  unsigned stride() const {
    if (major == OperandMajor::K) return 2 * pattern();
    return swizzle == OperandSwizzle::None ? 128 : spans() * pattern();
  }
  unsigned leading() const {
    if (major == OperandMajor::K) return rows / 8 * stride();
    return swizzle == OperandSwizzle::None ? (rows * element + 15) / 16 * 128 : pattern();
  }
  unsigned spans() const { return (rows * element + span() - 1) / span(); }

  unsigned offset(unsigned row, unsigned k) const {
    const bool plain = swizzle == OperandSwizzle::None;
    const unsigned along_k = k * element, along_row = row * element;
    if (major == OperandMajor::K) {
      const unsigned at = row / 8 * stride() + row % 8 * span();
      return plain ? at + along_k / 16 * leading() + along_k % 16 : at + along_k;
    }
    const unsigned at = k % 8 * span() + along_row % span();
    return plain ? at + along_row / 16 * stride() + k / 8 * leading()
                 : at + along_row / span() * leading() + k / 8 * stride();
  }
  std::uint64_t descriptor() const {
    return isa::tcgen05_matrix_descriptor(0, leading(), stride(), swizzle);
  }
};

unsigned swizzled_offset(unsigned offset, OperandSwizzle swizzle) {
  // Chunks of 16 bytes change places with the row of 128 bytes that they are in.
  return offset ^ ((offset / 128 * 16) & (isa::span_of(swizzle) - 16));
}

struct Operand {
  Placement placement;
  std::vector<std::byte> memory = std::vector<std::byte>(1 << 18);

  void set(unsigned row, unsigned k, const void* bits) {
    std::memcpy(&memory[swizzled_offset(placement.offset(row, k), placement.swizzle)], bits,
                placement.element);
  }
  void find_pieces(const std::byte** pieces) const {
    const OperandPlacement decoded = decode_operand(placement.descriptor());
    const unsigned per_k = placement.rows * placement.element / 16;
    for (unsigned piece = 0; piece < 2 * placement.rows; ++piece) {
      pieces[piece] = &memory[operand_piece(decoded, placement.major, per_k, piece)];
    }
  }
};

int a_value(unsigned m, unsigned k) { return static_cast<int>((m * 3 + k) % 7) - 3; }
int b_value(unsigned n, unsigned k) { return static_cast<int>((n + k * 5) % 4) - 1; }

template <class Element>
void fill(Operand& operand, unsigned first_row, unsigned k_extent,
          int (*value)(unsigned, unsigned)) {
  for (unsigned row = 0; row < operand.placement.rows; ++row) {
    for (unsigned k = 0; k < k_extent; ++k) {
      const Element element(static_cast<float>(value(first_row + row, k)));
      operand.set(row, k, &element);
    }
  }
}
struct SignedByte {
  explicit SignedByte(float value) : bits(static_cast<std::int8_t>(value)) {}
  std::int8_t bits;
};

struct Case {
  isa::MmaFields fields;
  unsigned cta_group = 1;
  OperandSwizzle a_swizzle = OperandSwizzle::Bytes128, b_swizzle = OperandSwizzle::Bytes128;
};

// Multiplies twice, the second time on top of the first, and compares every element.
template <class Element, class Number>
void check(const Case& test) {
  const TensorProduct product = decode_product(test.fields.a.kind, test.cta_group,
                                               isa::tcgen05_instruction_descriptor(test.fields));
  ASSERT_EQ(product.m, test.fields.m);
  ASSERT_EQ(product.n, test.fields.n);
  const unsigned element = element_bytes(product.kind), k_extent = 32 / element;
  TensorProductData data;
  std::vector<Operand> operands;
  for (unsigned cta = 0; cta < test.cta_group; ++cta) {
    operands.push_back({{product.a_major, test.a_swizzle, product.rows_per_cta(), element}});
    operands.push_back({{product.b_major, test.b_swizzle, product.columns_per_cta(), element}});
  }
  for (unsigned cta = 0; cta < test.cta_group; ++cta) {
    fill<Element>(operands[2 * cta], cta * product.rows_per_cta(), k_extent, a_value);
    fill<Element>(operands[2 * cta + 1], cta * product.columns_per_cta(), k_extent, b_value);
    operands[2 * cta].find_pieces(data.a[cta]);
    operands[2 * cta + 1].find_pieces(data.b[cta]);
  }
  std::vector<std::uint32_t> d(product.m * product.n, 0xFFFFFFFF);  // NaN: must not be read
  for (unsigned m = 0; m < product.m; ++m) {
    for (unsigned part = 0; part < product.parts(); ++part) {
      data.d[m][part] = &d[m * product.n + part * product.part_columns()];
    }
  }
  multiply(product, data, false);
  multiply(product, data, true);
  const int sign = (test.fields.negate_a ? -1 : 1) * (test.fields.negate_b ? -1 : 1);
  for (unsigned m = 0; m < product.m; ++m) {
    for (unsigned n = 0; n < product.n; ++n) {
      int sum = 0;
      for (unsigned k = 0; k < k_extent; ++k) sum += 2 * sign * a_value(m, k) * b_value(n, k);
      ASSERT_EQ(std::bit_cast<Number>(d[m * product.n + n]), static_cast<Number>(sum))
          << "at " << m << ", " << n;
    }
  }
}

TEST(Tcgen05Product, SixteenBitsInEveryLayout) {
  for (const OperandSwizzle a : every_swizzle) {
    for (const OperandSwizzle b : every_swizzle) {
      for (const OperandMajor a_major : {OperandMajor::K, OperandMajor::MN}) {
        for (const OperandMajor b_major : {OperandMajor::K, OperandMajor::MN}) {
          Case test{{128, 96, format::bf16, format::bf16}, 1, a, b};
          test.fields.a_major = a_major;
          test.fields.b_major = b_major;
          check<Bf16, float>(test);
        }
      }
    }
  }
  check<Fp16, float>({{128, 256, format::fp16, format::fp16}});
}

TEST(Tcgen05Product, EveryShapeOfOneAndTwoCtas) {
  check<Bf16, float>({{64, 8, format::bf16, format::bf16}});
  check<Bf16, float>({{64, 256, format::bf16, format::bf16}});
  check<Bf16, float>({{128, 16, format::bf16, format::bf16}});
  check<Bf16, float>({{128, 256, format::bf16, format::bf16}});
  check<Bf16, float>({{128, 64, format::bf16, format::bf16}, 2});
  check<Bf16, float>({{256, 32, format::bf16, format::bf16}, 2});
  check<Bf16, float>({{256, 256, format::bf16, format::bf16}, 2});
}

TEST(Tcgen05Product, OtherKinds) {
  for (const OperandSwizzle swizzle : every_swizzle) {
    check<Tf32, float>({{128, 64, format::tf32, format::tf32}, 1, swizzle, swizzle});
    for (const OperandMajor major : {OperandMajor::K, OperandMajor::MN}) {
      Case bytes{{128, 64, format::e4m3, format::e4m3}, 1, swizzle, swizzle};
      bytes.fields.a_major = bytes.fields.b_major = major;
      check<E4m3, float>(bytes);
      bytes.fields.a = bytes.fields.b = format::e5m2;
      check<E5m2, float>(bytes);
      bytes.fields.a = bytes.fields.b = format::s8;
      bytes.fields.accumulator = isa::MmaAccumulator::S32;
      check<SignedByte, std::int32_t>(bytes);
      bytes.cta_group = 2;
      bytes.fields.m = 256;
      check<SignedByte, std::int32_t>(bytes);
    }
  }
}

TEST(Tcgen05Product, Negates) {
  Case test{{64, 16, format::bf16, format::bf16}};
  test.fields.negate_a = true;
  check<Bf16, float>(test);
  test.fields.negate_b = true;
  check<Bf16, float>(test);
}

// Codes of 4 and 6 bits are packed at the begin of their 16 bytes.
TEST(Tcgen05Product, UnpacksFourAndSixBits) {
  const auto check_codes = [](isa::MmaFormat code, unsigned bits, auto decode) {
    const TensorProduct product = decode_product(
        MmaKind::F8F6F4, 1, isa::tcgen05_instruction_descriptor({64, 8, code, format::e4m3}));
    std::vector<std::byte> a(128 * 16), b(16 * 16);
    const auto code_at = [&](unsigned m, unsigned k) { return (m + 5 * k) % (1u << bits); };
    for (unsigned m = 0; m < 64; ++m) {
      for (unsigned k = 0; k < 32; ++k) {
        for (unsigned bit = 0; bit < bits; ++bit) {
          const unsigned at = k % 16 * bits + bit;
          const unsigned value = code_at(m, k) >> bit & 1;
          a[(2 * m + k / 16) * 16 + at / 8] |= static_cast<std::byte>(value << at % 8);
        }
      }
    }
    const E4m3 one(1);
    std::memset(b.data(), one.bits, b.size());
    TensorProductData data;
    for (unsigned piece = 0; piece < 128; ++piece) data.a[0][piece] = &a[16 * piece];
    for (unsigned piece = 0; piece < 16; ++piece) data.b[0][piece] = &b[16 * piece];
    std::uint32_t d[64][8];
    for (unsigned m = 0; m < 64; ++m) data.d[m][0] = d[m];
    multiply(product, data, false);
    for (unsigned m = 0; m < 64; ++m) {
      float sum = 0;
      for (unsigned k = 0; k < 32; ++k) sum += decode(code_at(m, k));
      ASSERT_EQ(std::bit_cast<float>(d[m][3]), sum) << "row " << m << " of " << bits << " bits";
    }
  };
  const auto value = []<class Code>(unsigned code) {
    return static_cast<float>(Code::from_bits(static_cast<std::uint8_t>(code)));
  };
  check_codes(format::e2m1, 4, [&](unsigned code) { return value.operator()<E2m1>(code); });
  check_codes(format::e2m3, 6, [&](unsigned code) { return value.operator()<E2m3>(code); });
  check_codes(format::e3m2, 6, [&](unsigned code) { return value.operator()<E3m2>(code); });
}

TEST(Tcgen05Place, RowsOfTheAccumulator) {
  const auto product = [](unsigned m, unsigned n, unsigned group) {
    return decode_product(MmaKind::F16, group,
                          isa::tcgen05_instruction_descriptor({m, n, format::bf16, format::bf16}));
  };
  EXPECT_EQ(product(128, 64, 1).lane(77, 0), 77u);
  EXPECT_EQ(product(256, 64, 2).lane(77, 0), 77u);
  EXPECT_EQ(product(64, 64, 1).lane(0, 0), 0u);
  EXPECT_EQ(product(64, 64, 1).lane(15, 0), 15u);
  EXPECT_EQ(product(64, 64, 1).lane(16, 0), 32u);
  EXPECT_EQ(product(64, 64, 1).lane(63, 0), 111u);
  const TensorProduct folded = product(128, 64, 2);
  EXPECT_EQ(folded.parts(), 2u);
  EXPECT_EQ(folded.part_columns(), 32u);
  EXPECT_EQ(folded.lane(5, 0), 5u);
  EXPECT_EQ(folded.lane(5, 1), 69u);
}

// What a refusal says, empty if there is none.
template <class Act>
std::string refusal(Act&& act) {
  try {
    act();
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "";
}

TEST(Tcgen05Descriptor, RefusesWhatTheHardwareDoes) {
  const auto operand = [](std::uint64_t bits) { return refusal([&] { decode_operand(bits); }); };
  constexpr std::uint64_t good = 0x4000404000010000;
  EXPECT_EQ(operand(good), "");
  EXPECT_NE(operand(good & ~(std::uint64_t{1} << 46)).find("version 1"), std::string::npos);
  EXPECT_NE(operand(good | std::uint64_t{1} << 55).find("reserved"), std::string::npos);
  EXPECT_NE(operand(0x6000404000010000).find("no swizzle 3"), std::string::npos);
  EXPECT_NE(operand(0x2000404000010000).find("unsupported"), std::string::npos);
  EXPECT_NE(operand(good | std::uint64_t{1} << 49).find("unsupported"), std::string::npos);
  EXPECT_NE(operand(good | 0x10).find("first row"), std::string::npos);

  const auto product = [](const isa::MmaFields& fields, unsigned group = 1) {
    return refusal(
        [&] { decode_product(fields.a.kind, group, isa::tcgen05_instruction_descriptor(fields)); });
  };
  EXPECT_NE(product({256, 64, format::bf16, format::bf16}).find("no product of 256 x 64"),
            std::string::npos);
  EXPECT_NE(product({128, 24, format::bf16, format::bf16}).find("multiple of 16"),
            std::string::npos);
  EXPECT_NE(product({256, 48, format::bf16, format::bf16}, 2).find("multiple of 32"),
            std::string::npos);
  EXPECT_NE(product({128, 64, {MmaKind::F16, 2}, format::bf16}).find("formats 2 and 1"),
            std::string::npos);
  EXPECT_NE(
      product(
          {.m = 128, .n = 64, .a = format::tf32, .b = format::tf32, .a_major = OperandMajor::MN})
          .find("unsupported"),
      std::string::npos);
  EXPECT_NE(refusal([] { decode_product(MmaKind::F16, 1, 0x08100000); }).find("f16 accumulators"),
            std::string::npos);
  EXPECT_NE(refusal([] { decode_product(MmaKind::F16, 1, 0x08100014); }).find("sparsity"),
            std::string::npos);
}

}  // namespace
}  // namespace tw::vgpu
