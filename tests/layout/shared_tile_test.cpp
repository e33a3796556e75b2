// Tiles in shared memory by 32-bit addresses: every address is what the layout says, and swizzled
// operands lie as TMA writes them.
#include "tilewright/layout/shared_tile.h"

#include <gtest/gtest.h>

#include "tilewright/epilogue/staged_layout.h"
#include "tilewright/io/operand_layout.h"

namespace tw {
namespace {

constexpr unsigned first = 4096;

template <Major major>
void expect_operand() {
  constexpr Layout layout = in_stages(operand_layout(128, 64, 2, major, 2), 65536, 2);
  const SharedTile<std::uint16_t, layout> tile(first);
  for (unsigned row = 0; row < 128; ++row) {
    for (unsigned k = 0; k < 64; ++k) {
      for (unsigned span = 0; span < 2; ++span) {
        const unsigned line = major == Major::K ? row : row / 64 * 64 + k;
        const unsigned in_line = (major == Major::K ? k : row % 64) * 2;
        const unsigned wanted = first + 65536 + span * 16384 + line * 128 +
                                (in_line / 16 ^ line % 8) * 16 + in_line % 16;
        ASSERT_EQ(tile.address(row, k, span, 1u), wanted) << row << ' ' << k;
        ASSERT_EQ(first + 2 * offset(layout, row, k, span, 1), wanted) << row << ' ' << k;
        const auto chunks = tile.template chunks<16>();
        const auto chunk = major == Major::K ? chunks.address(row, k / 8, span, 1u)
                                             : chunks.address(row / 8, k, span, 1u);
        ASSERT_EQ(chunk, wanted / 16 * 16) << row << ' ' << k;
        ASSERT_EQ(tile.slice(whole, whole, span, 1u).address(row, k), wanted);
      }
    }
  }
  EXPECT_EQ(tile.template from<64>(64).address(), first + 8192);
}

TEST(SharedTile, LiesAsTmaWritesKMajor) { expect_operand<Major::K>(); }
TEST(SharedTile, LiesAsTmaWritesMnMajor) { expect_operand<Major::MN>(); }

// Every way by steps leads where the layout says, and where TMA expects the element.
template <unsigned lines, unsigned bytes, unsigned line_bytes, int mode_index, unsigned step>
void expect_steps() {
  using Bits = std::conditional_t<bytes == 1, std::uint8_t,
                                  std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>>;
  constexpr Layout layout = staged_layout(lines, bytes, line_bytes);
  constexpr unsigned columns = line_bytes / bytes;
  alignas(16) static Bits memory[lines * columns];
  const SharedTile<Bits, layout> tile(first);
  const TileTensor<Bits, Space::Shared, layout> elements(memory);
  for (unsigned line = 0; line < (mode_index == 0 ? step : lines); ++line) {
    for (unsigned column = 0; column < (mode_index == 1 ? step : columns); ++column) {
      const auto from = tile.template steps_from<mode_index, step>(line, column);
      const auto pointers = elements.template steps_from<mode_index, step>(line, column);
      const unsigned begin = mode_index == 0 ? line : column;
      const unsigned end = mode_index == 0 ? lines : columns;
      for (unsigned distance = 0; begin + distance < end; distance += step) {
        const unsigned to_line = mode_index == 0 ? line + distance : line;
        const unsigned to_column = mode_index == 1 ? column + distance : column;
        const unsigned in_line = to_column * bytes;
        const unsigned turn = line_bytes == 128 ? to_line % 8 : to_line / 2 % 4;
        const unsigned wanted = to_line * line_bytes + (in_line ^ turn * 16);
        ASSERT_EQ(from.address(distance), first + wanted) << line << ' ' << column;
        ASSERT_EQ(tile.address(to_line, to_column), first + wanted) << line << ' ' << column;
        ASSERT_EQ(pointers.address(distance), memory + wanted / bytes) << line << ' ' << column;
      }
    }
  }
}

TEST(Steps, LeadThroughAChunk) {
  expect_steps<64, 2, 128, 1, 16>();  // matrices
  expect_steps<64, 4, 128, 1, 8>();   // pairs
  expect_steps<64, 1, 128, 1, 8>();
  expect_steps<64, 2, 128, 1, 4>();  // singles behind a gate
  expect_steps<64, 1, 128, 1, 4>();
  expect_steps<128, 1, 128, 1, 16>();  // pieces of a row
  expect_steps<128, 4, 128, 1, 4>();
  expect_steps<64, 2, 64, 1, 16>();
  expect_steps<64, 4, 64, 1, 8>();
  expect_steps<8, 2, 128, 0, 8>();  // lines
  expect_steps<48, 2, 128, 0, 8>();
  expect_steps<104, 2, 128, 0, 8>();
  expect_steps<64, 2, 64, 0, 8>();
  expect_steps<8, 2, 128, 0, 2>();  // lines that the swizzle tells apart
}

TEST(Steps, AreRefusedWhereTheyAreNoConstant) {
  EXPECT_EQ(step_kind(staged_layout(64, 2, 128), 1, 16), StepKind::Flips);
  EXPECT_EQ(step_kind(staged_layout(64, 2, 128), 0, 8), StepKind::Adds);
  EXPECT_EQ(step_kind(row_major(64, 72), 0, 4), StepKind::Adds);
  // Four lines further the swizzle turns otherwise, in some lines by a carry.
  EXPECT_EQ(step_kind(staged_layout(64, 2, 128), 0, 4), StepKind::Neither);
  // Lines of 144 bytes share bits with their columns.
  EXPECT_EQ(step_kind(with_swizzle(row_major(64, 72), {3, 3, 3}), 1, 8), StepKind::Neither);
  EXPECT_EQ(step_kind(staged_layout(64, 2, 128), 1, 24), StepKind::Neither);
}

TEST(Steps, BeginBelowTheStep) {
  const SharedTile<std::uint16_t, staged_layout(64, 2, 128)> tile(first);
  EXPECT_THROW((tile.steps_from<1, 16>(0u, 16u)), Refusal);
  EXPECT_THROW((tile.steps_from<1, 16>(0u, 8u).address(8)), Refusal);
  EXPECT_NO_THROW((tile.steps_from<0, 8>(9u, 3u).address(8)));
}

}  // namespace
}  // namespace tw
