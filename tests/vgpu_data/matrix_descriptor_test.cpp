#include "vgpu/data/matrix_descriptor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tilewright/base/status.h"
#include "vgpu/data/tile_map.h"

namespace {

using namespace tw;
using namespace tw::vgpu;

// What CUTLASS' make_gmma_desc gives for f16 tiles at address 0.
TEST(MatrixDescriptor, ReadsPublishedValues) {
  struct Case {
    std::uint64_t bits;
    std::uint32_t leading, stride;
    MapSwizzle swizzle;
  };
  const Case cases[] = {{0x4000004000010000, 16, 1024, MapSwizzle::Bytes128},
                        {0x8000002000010000, 16, 512, MapSwizzle::Bytes64},
                        {0xc000001000010000, 16, 256, MapSwizzle::Bytes32},
                        {0x0000000800800000, 2048, 128, MapSwizzle::None}};
  for (const Case& c : cases) {
    const MatrixDescriptor descriptor = decode_matrix_descriptor(c.bits);
    EXPECT_EQ(descriptor.start, 0u);
    EXPECT_EQ(descriptor.leading_bytes, c.leading);
    EXPECT_EQ(descriptor.stride_bytes, c.stride);
    EXPECT_EQ(descriptor.base_offset, 0u);
    EXPECT_EQ(descriptor.swizzle, c.swizzle);
    EXPECT_EQ(encode_matrix_descriptor(descriptor), c.bits);
  }
}

// CUTLASS gives 0x4000008000400000 for an MN-major f16 tile of 128 x 64: blocks of 64 along m every
// 1024 bytes, groups of 8 k every 2048.
TEST(MatrixDescriptor, FindsTransposedChunks) {
  const MatrixDescriptor descriptor = decode_matrix_descriptor(0x4000008000400000);
  for (unsigned m = 0; m < 128; m += 8) {
    for (unsigned k = 0; k < 64; ++k) {
      const unsigned line = m / 64 * 1024 + k / 8 * 2048 + k % 8 * 128;
      EXPECT_EQ(transposed_chunk(descriptor, m / 8, k), line + (m % 64 / 8 ^ k % 8) * 16);
    }
  }
  // Shorter spans: four chunks of a line, or two, swizzled by the address.
  for (unsigned group = 0; group < 16; ++group) {
    for (unsigned k = 0; k < 16; ++k) {
      EXPECT_EQ(transposed_chunk({0, 512, 4096, 0, MapSwizzle::Bytes64}, group, k),
                group / 4 * 512 + k / 8 * 4096 + k % 8 * 64 + (group % 4 ^ k % 8 / 2) * 16);
      EXPECT_EQ(transposed_chunk({0, 256, 4096, 0, MapSwizzle::Bytes32}, group, k),
                group / 2 * 256 + k / 8 * 4096 + k % 8 * 32 + (group % 2 ^ k % 8 / 4) * 16);
      EXPECT_EQ(transposed_chunk({0, 128, 256, 0, MapSwizzle::None}, group, k),
                group * 256 + k / 8 * 128 + k % 8 * 16);
    }
  }
  EXPECT_THROW(transposed_chunk({64, 512, 500, 0, MapSwizzle::Bytes64}, 0, 0), Refusal);
  EXPECT_THROW(transposed_chunk({128, 1024, 1024, 0, MapSwizzle::Bytes128}, 0, 0), Refusal);
  EXPECT_THROW(transposed_chunk({0, 512, 1024, 0, MapSwizzle::Bytes128}, 8, 0), Refusal);
  EXPECT_THROW(transposed_chunk({0, 1024, 1024, 1, MapSwizzle::Bytes128}, 0, 0), Refusal);
}

TEST(MatrixDescriptor, KeepsEveryField) {
  const MatrixDescriptor descriptor = {0x3fff0, 0x2abc0, 0x15430, 5, MapSwizzle::Bytes64};
  const std::uint64_t bits = encode_matrix_descriptor(descriptor);
  EXPECT_EQ(bits, 0x800a'1543'2abc'3fffu) << std::hex << bits;
  const MatrixDescriptor back = decode_matrix_descriptor(bits);
  EXPECT_EQ(back.start, descriptor.start);
  EXPECT_EQ(back.leading_bytes, descriptor.leading_bytes);
  EXPECT_EQ(back.stride_bytes, descriptor.stride_bytes);
  EXPECT_EQ(back.base_offset, descriptor.base_offset);
  EXPECT_EQ(back.swizzle, descriptor.swizzle);
}

TEST(MatrixDescriptor, RefusesWhatNoFieldHolds) {
  // Blackwell's version bit.
  EXPECT_EQ(attempt([] { return decode_matrix_descriptor(0x4000404000010000); }).status.sentence(),
            "matrix descriptor: 0x4000404000010000 sets the reserved bits 0x0000400000000000.");
  for (int bit : {14, 15, 30, 31, 46, 47, 48, 52, 57, 61}) {
    EXPECT_THROW(decode_matrix_descriptor(std::uint64_t{1} << bit), Refusal) << bit;
  }
  EXPECT_EQ(attempt([] { return encode_matrix_descriptor({.start = 0x40000}); }).status.sentence(),
            "matrix descriptor: start = 0x40000 must be a multiple of 16 below 2^18.");
  EXPECT_THROW(encode_matrix_descriptor({.stride_bytes = 1032}), Refusal);
  EXPECT_THROW(encode_matrix_descriptor({.leading_bytes = 1 << 18}), Refusal);
  EXPECT_THROW(encode_matrix_descriptor({.base_offset = 8}), Refusal);
}

TEST(MatrixDescriptor, RefusesOperandsThatNeedABaseOffset) {
  const auto sentence = [](const MatrixDescriptor& descriptor) {
    return attempt([&] { return operand_chunk(descriptor, 0, 0); }).status.sentence();
  };
  EXPECT_EQ(sentence({1024, 16, 1024, 0, MapSwizzle::Bytes128}), "");
  EXPECT_EQ(sentence({1024 + 96, 16, 1024, 0, MapSwizzle::Bytes128}), "");
  EXPECT_EQ(sentence({1024, 16, 1024, 1, MapSwizzle::Bytes128}),
            "matrix descriptor: unsupported: base offset 1; only 0 is modelled.");
  EXPECT_EQ(sentence({1024 + 128, 16, 1024, 0, MapSwizzle::Bytes128}), "");
  EXPECT_EQ(sentence({1024 + 128, 16, 512, 0, MapSwizzle::Bytes128}),
            "matrix descriptor: unsupported: with a swizzle of 128 bytes, the stride 512 must be a "
            "multiple of 1024.");
  EXPECT_EQ(sentence({1024 + 128, 16, 96, 0, MapSwizzle::None}), "");
}

// The swizzle is a function of the address, wherever the operand begins.
TEST(MatrixDescriptor, BeginsAtAnyLineOfAPattern) {
  const MatrixDescriptor all = {0x1000, 16, 1024, 0, MapSwizzle::Bytes128};
  for (unsigned line = 0; line < 8; ++line) {
    MatrixDescriptor some = all;
    some.start += line * 128;
    for (unsigned row = 0; row < 64; ++row) {
      EXPECT_EQ(operand_chunk(some, row, 1), operand_chunk(all, row + line, 1));
    }
  }
}

TEST(MatrixDescriptor, FindsChunksWithoutSwizzle) {
  const MatrixDescriptor descriptor = {0x1000, 0x800, 0x80, 0, MapSwizzle::None};
  for (unsigned row = 0; row < 128; ++row) {
    for (unsigned chunk = 0; chunk < 2; ++chunk) {
      EXPECT_EQ(operand_chunk(descriptor, row, chunk),
                0x1000 + row / 8 * 0x80 + row % 8 * 16 + chunk * 0x800);
    }
  }
}

// Both ends together: TMA writes a tile, the descriptor must read the same matrix back.
TEST(MatrixDescriptor, ReadsWhatTmaWrote) {
  constexpr unsigned rows = 256, tensor_rows = 300, tensor_columns = 320;
  std::vector<std::uint16_t> tensor(tensor_rows * tensor_columns + 8);
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<std::uint16_t>(i * 7 + 1);
  auto* base = reinterpret_cast<std::uint16_t*>(
      (reinterpret_cast<std::uintptr_t>(tensor.data()) + 15) / 16 * 16);
  std::vector<std::byte> shared(64 * 1024);

  for (MapSwizzle swizzle : {MapSwizzle::Bytes32, MapSwizzle::Bytes64, MapSwizzle::Bytes128}) {
    const unsigned span = swizzle_span(swizzle);
    TileMap map;
    map.base = base;
    map.element_bytes = 2;
    map.rank = 2;
    map.extents[0] = tensor_columns;
    map.extents[1] = tensor_rows;
    map.pitch_bytes[0] = tensor_columns * 2;
    map.box[0] = span / 2;
    map.box[1] = rows;
    map.swizzle = swizzle;
    const int at[2] = {64, 17};
    const SharedAddress tile = 0x2000;
    for_each_run(decode(encode(map)), at, tile,
                 [&](const auto& run) { std::memcpy(&shared[run.shared], run.global, run.bytes); });

    for (unsigned step = 0; step < span / 32; ++step) {  // along k, inside the swizzle span
      const std::uint64_t bits =
          encode_matrix_descriptor({tile + 32 * step, 0, 8 * span, 0, swizzle});
      const MatrixDescriptor descriptor = decode_matrix_descriptor(bits);
      for (unsigned row = 0; row < rows; ++row) {
        for (unsigned k = 0; k < 16; ++k) {
          std::uint16_t found;
          std::memcpy(&found, &shared[operand_chunk(descriptor, row, k / 8) + k % 8 * 2], 2);
          ASSERT_EQ(found, base[(17 + row) * tensor_columns + 64 + 16 * step + k])
              << "span " << span << ", step " << step << ", row " << row << ", k " << k;
        }
      }
    }
  }
}

}  // namespace
