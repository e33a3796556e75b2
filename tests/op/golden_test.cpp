// What TileOps and loaders of sm_100a say to the hardware, against numbers that CuTe (NVIDIA's own
// layouts, evaluated on a CPU) gives for the same tiles: the descriptors of the first and of the
// last product of a stage, and where every element of a tile lies in shared memory.
#include <gtest/gtest.h>

#include <vector>

#include "tilewright/io/tma_loader.h"
#include "tilewright/op/tcgen05.h"

namespace {

struct Issued {
  tw::MmaKind kind;
  unsigned group;
  std::uint64_t a, b;
  std::uint32_t instruction;
  bool accumulate;
};
std::vector<Issued> issued;

}  // namespace

namespace tw::model {

// Stands in for the tensor core: a TileOp that is run here is asked only what it issues.
void tcgen05_mma(MmaKind kind, unsigned cta_group, TensorAddress, std::uint64_t a, std::uint64_t b,
                 std::uint32_t instruction, bool accumulate) {
  issued.push_back({kind, cta_group, a, b, instruction, accumulate});
}

}  // namespace tw::model

namespace tw {
namespace {

template <Tiling tiling>
struct FirstStage {
  struct Reads {
    struct Payload {
      using RingTensors = OperandTensors<tiling, unsigned{sizeof(OperandTiles<tiling>)}>;
    };
  };
  unsigned slot() const { return 0; }
};

struct Sum {
  TensorAddress address = 0;
  unsigned started = 0;
};

struct Golden {
  std::uint32_t instruction;
  std::uint64_t a_first, a_last, b_first, b_last;
};

// CuTe leaves the leading distance at 0 where rows are one box wide: nothing reads it then.
void expect_descriptor(std::uint64_t found, std::uint64_t wanted) {
  constexpr std::uint64_t leading = std::uint64_t{0x3FFF} << 16;
  const std::uint64_t compared = (wanted & leading) == 0 ? ~leading : ~std::uint64_t{0};
  EXPECT_EQ(found & compared, wanted & compared) << std::hex << found << " and " << wanted;
}

// The descriptors of CuTe count from address 0, so A is put there; B follows behind it.
template <Tiling tiling>
void expect(MmaKind kind, const Golden& golden) {
  constexpr unsigned stage_bytes = sizeof(OperandTiles<tiling>);
  using Tensors = OperandTensors<tiling, stage_bytes>;
  SCOPED_TRACE(testing::Message() << "instruction " << std::hex << golden.instruction);
  Tcgen05Op<tiling, stage_bytes> op(Tensors(0), 0, 0);
  Sum sum;
  issued.clear();
  op.multiply(sum, FirstStage<tiling>{});
  ASSERT_EQ(issued.size(), 4 * tiling.spans);
  for (const Issued& one : issued) {
    EXPECT_EQ(one.kind, kind);
    EXPECT_EQ(one.group, tiling.group);
    EXPECT_EQ(one.instruction, golden.instruction);
    EXPECT_EQ(one.accumulate, &one != &issued.front());
  }
  constexpr std::uint64_t b_at = Tensors::b_at >> 4;
  expect_descriptor(issued.front().a, golden.a_first);
  expect_descriptor(issued.back().a, golden.a_last);
  expect_descriptor(issued.front().b - b_at, golden.b_first);
  expect_descriptor(issued.back().b - b_at, golden.b_last);
}

using Type = ElementType;
constexpr Major mn = Major::MN;
// K-major rows of 128 bytes; MN-major boxes of 128 bytes by 64 of k (16 bits) or 128 (8 bits).
constexpr std::uint64_t k_0 = 0x4000404000010000, k_3 = 0x4000404000010006;
constexpr std::uint64_t mn_0 = 0x4000404002000000, mn_3 = 0x4000404002000180;
constexpr std::uint64_t one_box_0 = 0x4000404000000000, one_box_3 = 0x4000404000000180;
constexpr std::uint64_t bytes_0 = 0x4000404004000000, bytes_3 = 0x4000404004000300;
constexpr std::uint64_t bytes_one_box_3 = 0x4000404000000300;

constexpr Tiling of(Type a, Type b, Tiling tiling) {
  tiling.a_type = a;
  tiling.b_type = b;
  return tiling;
}
constexpr Tiling pair(Tiling tiling) {
  tiling.cluster = {2, 1};
  tiling.group = 2;
  return tiling;
}

TEST(GoldenDescriptors, SixteenBits) {
  constexpr MmaKind kind = MmaKind::F16;
  expect<Tiling{.n = 32}>(kind, {0x08080490, k_0, k_3, k_0, k_3});
  expect<Tiling{.n = 128}>(kind, {0x08200490, k_0, k_3, k_0, k_3});
  expect<Tiling{.n = 256}>(kind, {0x08400490, k_0, k_3, k_0, k_3});
  expect<Tiling{.n = 128, .a_major = mn}>(kind, {0x08208490, mn_0, mn_3, k_0, k_3});
  expect<Tiling{.n = 256, .b_major = mn}>(kind, {0x08410490, k_0, k_3, mn_0, mn_3});
  expect<Tiling{.n = 256, .a_major = mn, .b_major = mn}>(kind,
                                                         {0x08418490, mn_0, mn_3, mn_0, mn_3});
  expect<Tiling{.n = 64, .a_major = mn, .b_major = mn}>(
      kind, {0x08118490, mn_0, mn_3, one_box_0, one_box_3});
  expect<of(Type::Fp16, Type::Fp16, {.n = 256})>(kind, {0x08400010, k_0, k_3, k_0, k_3});
  expect<of(Type::Fp16, Type::Fp16, {.n = 128, .a_major = mn, .b_major = mn})>(
      kind, {0x08218010, mn_0, mn_3, mn_0, mn_3});
  expect<Tiling{.n = 256, .spans = 2}>(
      kind, {0x08400490, k_0, 0x4000404000010406, k_0, 0x4000404000010806});
}

TEST(GoldenDescriptors, SixteenBitsOfAPair) {
  constexpr MmaKind kind = MmaKind::F16;
  expect<pair({.n = 256})>(kind, {0x10400490, k_0, k_3, k_0, k_3});
  expect<pair({.n = 64})>(kind, {0x10100490, k_0, k_3, k_0, k_3});
  expect<pair({.n = 256, .a_major = mn})>(kind, {0x10408490, mn_0, mn_3, k_0, k_3});
  expect<pair({.n = 256, .b_major = mn})>(kind, {0x10410490, k_0, k_3, mn_0, mn_3});
  expect<pair({.n = 128, .a_major = mn, .b_major = mn})>(
      kind, {0x10218490, mn_0, mn_3, one_box_0, one_box_3});
  expect<pair(of(Type::Fp16, Type::Fp16, {.n = 256, .b_major = mn}))>(
      kind, {0x10410010, k_0, k_3, mn_0, mn_3});
  expect<pair({.n = 256, .spans = 2})>(
      kind, {0x10400490, k_0, 0x4000404000010406, k_0, 0x4000404000010406});
}

TEST(GoldenDescriptors, OtherTypes) {
  expect<of(Type::Tf32, Type::Tf32, {.n = 256})>(MmaKind::Tf32, {0x08400910, k_0, k_3, k_0, k_3});
  expect<pair(of(Type::Tf32, Type::Tf32, {.n = 128}))>(MmaKind::Tf32,
                                                       {0x10200910, k_0, k_3, k_0, k_3});
  expect<of(Type::S8, Type::S8, {.n = 256})>(MmaKind::I8, {0x084004A0, k_0, k_3, k_0, k_3});
  expect<of(Type::S8, Type::S8, {.n = 128, .a_major = mn, .b_major = mn})>(
      MmaKind::I8, {0x082184A0, one_box_0, bytes_one_box_3, one_box_0, bytes_one_box_3});
  constexpr MmaKind fp8 = MmaKind::F8F6F4;
  expect<of(Type::E4m3, Type::E4m3, {.n = 256})>(fp8, {0x08400010, k_0, k_3, k_0, k_3});
  expect<of(Type::E4m3, Type::E4m3, {.n = 256, .a_major = mn, .b_major = mn})>(
      fp8, {0x08418010, one_box_0, bytes_one_box_3, bytes_0, bytes_3});
  expect<of(Type::E5m2, Type::E4m3, {.n = 128, .b_major = mn})>(
      fp8, {0x08210090, k_0, k_3, one_box_0, bytes_one_box_3});
  expect<pair(of(Type::E4m3, Type::E4m3, {.n = 256}))>(fp8, {0x10400010, k_0, k_3, k_0, k_3});
  expect<pair(of(Type::E5m2, Type::E5m2, {.n = 256, .a_major = mn, .b_major = mn}))>(
      fp8, {0x10418490, one_box_0, bytes_one_box_3, one_box_0, bytes_one_box_3});
}

// FNV-1a over the 32-bit places of all elements, row by row.
std::uint64_t hash_of(const std::vector<std::uint32_t>& places) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::uint32_t place : places) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      hash = (hash ^ (place >> 8 * byte & 255)) * 1099511628211u;
    }
  }
  return hash;
}

// Where the copies of all sharing CTAs put the elements of a tile: a line of a box is 128 bytes,
// and TMA exchanges its 16-byte pieces by the number of the line.
template <ElementType type, Major major, unsigned rows, unsigned spans, unsigned shares>
std::uint64_t placed() {
  constexpr unsigned bytes = bytes_of(type), span_k = 128 / bytes, k_extent = span_k * spans;
  constexpr OperandTile tile = {rows, spans, span_k, major, shares, rows};
  constexpr Layout layout = operand_layout(rows, span_k, spans, major, bytes);
  const SharedTile<Element<type>, layout> destination(0);
  std::vector<std::uint32_t> places(rows * k_extent, ~0u);
  for (unsigned share = 0; share < shares; ++share) {
    for_each_copy<tile>(destination, 0, 0, share, [&](SharedAddress to, int inner, int outer) {
      for (unsigned line = 0; line < tile.box().outer; ++line) {
        for (unsigned i = 0; i < tile.box().inner; ++i) {
          const SharedAddress plain = to + line * 128 + i * bytes;
          const SharedAddress place = plain ^ (plain >> 7 & 7) << 4;
          const unsigned along = static_cast<unsigned>(inner) + i;
          const unsigned across = static_cast<unsigned>(outer) + line;
          places[major == Major::K ? across * k_extent + along : along * k_extent + across] = place;
        }
      }
    });
  }
  return hash_of(places);
}

TEST(GoldenPlaces, OfOneCta) {
  EXPECT_EQ((placed<Type::Bf16, Major::K, 128, 1, 1>()), 0xcd5c4c7a270fbf25);
  EXPECT_EQ((placed<Type::Bf16, Major::K, 256, 1, 1>()), 0x69c3faaa96ae7725);
  EXPECT_EQ((placed<Type::Bf16, Major::K, 128, 2, 1>()), 0xe373aad97fd4b325);
  EXPECT_EQ((placed<Type::Bf16, Major::MN, 128, 1, 1>()), 0x786f90fd7c9cb325);
  EXPECT_EQ((placed<Type::Bf16, Major::MN, 256, 1, 1>()), 0x0c828fa68a479325);
  EXPECT_EQ((placed<Type::E4m3, Major::K, 128, 1, 1>()), 0x5f7474025eeab325);
  EXPECT_EQ((placed<Type::E4m3, Major::MN, 128, 1, 1>()), 0x05d78714df32f725);
  EXPECT_EQ((placed<Type::E4m3, Major::MN, 256, 1, 1>()), 0xf624f8b1bae70b25);
  EXPECT_EQ((placed<Type::Tf32, Major::K, 128, 1, 1>()), 0xbfdf764ed6e20425);
}

TEST(GoldenPlaces, OfTwoCtasThatShare) {
  EXPECT_EQ((placed<Type::Bf16, Major::K, 128, 1, 2>()), 0xcd5c4c7a270fbf25);
  EXPECT_EQ((placed<Type::Bf16, Major::K, 256, 1, 2>()), 0x69c3faaa96ae7725);
  EXPECT_EQ((placed<Type::Bf16, Major::MN, 128, 1, 2>()), 0x786f90fd7c9cb325);
  EXPECT_EQ((placed<Type::Bf16, Major::MN, 256, 1, 2>()), 0x0c828fa68a479325);
  EXPECT_EQ((placed<Type::E4m3, Major::K, 128, 1, 2>()), 0x5f7474025eeab325);
  EXPECT_EQ((placed<Type::E4m3, Major::MN, 256, 1, 2>()), 0xf624f8b1bae70b25);
  EXPECT_EQ((placed<Type::Tf32, Major::K, 128, 1, 2>()), 0xbfdf764ed6e20425);
}

}  // namespace
}  // namespace tw
