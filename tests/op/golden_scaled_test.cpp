// What the TileOp of block scales says to the tensor core, against numbers that CuTe (NVIDIA's own
// layouts, evaluated on a CPU) gives: instructions with their scale ids, descriptors of operands
// and of scales; and the columns of tensor memory, as PTX arranges scales there.
#include <gtest/gtest.h>

#include <vector>

#include "tilewright/family/block_scaled/kernel.h"

namespace {

struct Product {
  tw::ScaledMmaKind kind;
  unsigned group;
  std::uint64_t a, b;
  std::uint32_t instruction;
  unsigned a_scales, b_scales;
  bool accumulate;
};
struct Copy {
  unsigned to;
  std::uint64_t from;
};
std::vector<Product> products;
std::vector<Copy> copies;

}  // namespace

namespace tw::model {

// Stand in for the tensor core.
void tcgen05_mma_scaled(ScaledMmaKind kind, unsigned cta_group, TensorAddress, std::uint64_t a,
                        std::uint64_t b, std::uint32_t instruction, TensorAddress a_scales,
                        TensorAddress b_scales, bool accumulate) {
  products.push_back({kind, cta_group, a, b, instruction, a_scales, b_scales, accumulate});
}
void tcgen05_cp(TensorCopy, unsigned, TensorAddress destination, std::uint64_t source) {
  EXPECT_TRUE(products.empty()) << "scales are copied before the products that read them";
  copies.push_back({destination, source});
}

}  // namespace tw::model

namespace tw {
namespace {

using Type = ElementType;

// The third stage of a ring.
constexpr unsigned third = 2, first_column = 256;
template <class Tensors>
struct Stage {
  struct Reads {
    struct Payload {
      using RingTensors = Tensors;
    };
  };
  unsigned slot() const { return third; }
};
struct Sum {
  TensorAddress address = 0;
  TensorAddress scales = first_column;
  unsigned to_first_column = 0;
  unsigned started = 1;
};

// `words`: which of a stage's blocks of k each product takes its scales from.
template <Tiling tiling, ScaleType type>
void expect(ScaledMmaKind kind, const std::vector<std::uint32_t>& instructions,
            const std::vector<unsigned>& words) {
  using Scales = BlockScales<tiling, type>;
  constexpr unsigned stage_bytes = sizeof(MatmulTiles<tiling, Scales>);
  using Tensors = MatmulTensors<tiling, Scales, stage_bytes>;
  using Op = Tcgen05ScaledOp<tiling, stage_bytes, Scales>;
  products.clear();
  copies.clear();
  Op op(Tensors(0), 0, 0);
  Sum sum;
  op.multiply(sum, Stage<Tensors>{});

  constexpr std::uint64_t k_major = 0x4000404000010000, scale_block = 0x0000400800010000;
  constexpr std::uint64_t stage = third * stage_bytes / 16;
  constexpr std::uint64_t b_at = tiling.a_bytes() / 16;
  const unsigned sfa = first_column + third * Op::slot_columns;
  const unsigned sfb = sfa + 4 * Scales::k_blocks;
  ASSERT_EQ(products.size(), instructions.size());
  for (unsigned i = 0; i < products.size(); ++i) {
    EXPECT_EQ(products[i].kind, kind);
    EXPECT_EQ(products[i].group, tiling.group);
    EXPECT_EQ(products[i].instruction, instructions[i]) << std::hex << products[i].instruction;
    EXPECT_EQ(products[i].a, k_major + stage + 2 * i);
    EXPECT_EQ(products[i].b, k_major + stage + b_at + 2 * i);
    EXPECT_EQ(products[i].a_scales, sfa + 4 * words[i]);
    EXPECT_EQ(products[i].b_scales, sfb + 4 * Scales::b_blocks * words[i]);
    EXPECT_TRUE(products[i].accumulate);
  }
  // A has a block for each block of k. B's blocks of 128 rows lie together in tensor memory, and
  // the blocks of k in shared memory.
  ASSERT_EQ(copies.size(), Scales::k_blocks * (1 + Scales::b_blocks));
  const std::uint64_t from = scale_block + stage + sizeof(OperandTiles<tiling>) / 16;
  for (unsigned k = 0; k < Scales::k_blocks; ++k) {
    EXPECT_EQ(copies[k].to, sfa + 4 * k);
    EXPECT_EQ(copies[k].from, from + 32 * k);
    for (unsigned row = 0; row < Scales::b_blocks; ++row) {
      const Copy& copy = copies[Scales::k_blocks + k * Scales::b_blocks + row];
      EXPECT_EQ(copy.to, sfb + 4 * (k * Scales::b_blocks + row));
      EXPECT_EQ(copy.from, from + 32 * (Scales::k_blocks * (1 + row) + k));
    }
  }
}

constexpr Tiling of(Type a, Type b, unsigned n, unsigned pair = 1) {
  return {.n = n, .a_type = a, .b_type = b, .cluster = {pair, 1}, .group = pair};
}

TEST(GoldenBlockScales, OfOneCta) {
  expect<of(Type::E4m3, Type::E4m3, 128), ScaleType::Ue8m0>(
      ScaledMmaKind::Mxf8f6f4, {0x08a00000, 0x28a00010, 0x48a00020, 0x68a00030}, {0, 0, 0, 0});
  expect<of(Type::E4m3, Type::E2m1, 128), ScaleType::Ue8m0>(
      ScaledMmaKind::Mxf8f6f4, {0x08a01400, 0x28a01410, 0x48a01420, 0x68a01430}, {0, 0, 0, 0});
  expect<of(Type::E2m1, Type::E2m1, 128), ScaleType::Ue8m0>(
      ScaledMmaKind::Mxf4, {0x08a00480, 0x48a004a0, 0x08a00480, 0x48a004a0}, {0, 0, 1, 1});
  expect<of(Type::E2m1, Type::E2m1, 256), ScaleType::Ue4m3>(
      ScaledMmaKind::Mxf4nvf4, {0x08400480, 0x08400480, 0x08400480, 0x08400480}, {0, 1, 2, 3});
}

TEST(GoldenBlockScales, OfAPair) {
  expect<of(Type::E5m2, Type::E4m3, 256, 2), ScaleType::Ue8m0>(
      ScaledMmaKind::Mxf8f6f4, {0x10c00080, 0x30c00090, 0x50c000a0, 0x70c000b0}, {0, 0, 0, 0});
  expect<of(Type::E3m2, Type::E2m3, 128, 2), ScaleType::Ue8m0>(
      ScaledMmaKind::Mxf8f6f4, {0x10a00e00, 0x30a00e10, 0x50a00e20, 0x70a00e30}, {0, 0, 0, 0});
}

}  // namespace
}  // namespace tw
