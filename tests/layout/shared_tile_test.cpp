// Tiles in shared memory by 32-bit addresses: every address is what the layout says, and swizzled
// operands lie as TMA writes them.
#include "tilewright/layout/shared_tile.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tw
