// Bank conflicts: known counts, and a count that goes over the bytes one by one.
#include "src/layout_tool/banks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "src/layout_tool/draw.h"
#include "src/layout_tool/evaluate.h"

namespace tw::layout_tool {
namespace {

Grid grid_of(const char* expression) { return Grid(std::get<Layout>(evaluate(expression))); }

Conflicts conflicts_of(const char* expression, const char* pattern, const char* memory,
                       int element_bytes) {
  const Grid grid = grid_of(expression);
  return count_conflicts(grid, make_access(grid, pattern, memory, element_bytes));
}

TEST(Banks, LdmatrixOfABf16Tile) {
  const Conflicts swizzled = conflicts_of("Sw<3,3,3> o (64,64):(64,1)", "ldmatrix", "nvidia", 2);
  EXPECT_TRUE(swizzled.is_free());
  EXPECT_EQ(swizzled.phases, 64);
  EXPECT_EQ(swizzled.wavefronts, 64);
  EXPECT_EQ(verdict(swizzled), "no conflict");
  const Conflicts plain = conflicts_of("(64,64):(64,1)", "ldmatrix", "nvidia", 2);
  EXPECT_EQ(plain.fewest, 8);
  EXPECT_EQ(plain.most, 8);
  EXPECT_EQ(verdict(plain), "8-way conflict");
  // A pitch of 144 bytes moves each row by four banks.
  EXPECT_TRUE(conflicts_of("(64,64):(72,1)", "ldmatrix", "nvidia", 2).is_free());
  // The 64-byte and the 32-byte swizzle, on rows of that length.
  EXPECT_TRUE(conflicts_of("Sw<2,3,3> o (64,32):(32,1)", "ldmatrix", "nvidia", 2).is_free());
  EXPECT_TRUE(conflicts_of("Sw<1,3,3> o (64,16):(16,1)", "ldmatrix", "nvidia", 2).is_free());
  EXPECT_EQ(conflicts_of("(64,32):(32,1)", "ldmatrix", "nvidia", 2).most, 4);
  EXPECT_EQ(conflicts_of("(64,16):(16,1)", "ldmatrix", "nvidia", 2).most, 2);
}

TEST(Banks, SingleElements) {
  EXPECT_TRUE(conflicts_of("(32,32):(32,1)", "row", "nvidia", 4).is_free());
  EXPECT_EQ(conflicts_of("(32,32):(32,1)", "column", "nvidia", 4).most, 32);
  EXPECT_TRUE(conflicts_of("(32,32):(33,1)", "column", "nvidia", 4).is_free());
  // Two elements in one word are one word.
  EXPECT_TRUE(conflicts_of("(32,32):(1,32)", "column", "nvidia", 2).is_free());
  EXPECT_EQ(conflicts_of("(32,32):(32,1)", "column", "nvidia", 2).most, 16);
  // Eight bytes per lane go in two phases of sixteen lanes.
  const Conflicts wide = conflicts_of("(32,32):(32,1)", "row", "nvidia", 8);
  EXPECT_TRUE(wide.is_free());
  EXPECT_EQ(wide.phases, 64);
  // Everyone reads the same element.
  EXPECT_TRUE(conflicts_of("(32,32):(0,0)", "row", "nvidia", 4).is_free());
}

// The totals that shared memory of CDNA4 is known to take, for one ds_read_b128 of four phases.
TEST(Banks, AmdPhases) {
  EXPECT_EQ(conflicts_of("Sw<1,4,4> o (16,32):(32,1)", "mfma16", "amd", 2).wavefronts, 4);
  EXPECT_EQ(conflicts_of("Sw<1,3,5> o (32,16):(16,1)", "mfma32", "amd", 2).wavefronts, 4);
  EXPECT_EQ(conflicts_of("(16,32):(32,1)", "mfma16", "amd", 2).wavefronts, 8);
  EXPECT_EQ(conflicts_of("(32,16):(16,1)", "mfma32", "amd", 2).wavefronts, 8);
  // Two reads cover a tile of 128 bytes a row.
  EXPECT_EQ(conflicts_of("(16,64):(64,1)", "mfma16", "amd", 2).wavefronts, 2 * 16);
  EXPECT_EQ(conflicts_of("(16,128):(128,1)", "mfma16", "amd", 1).wavefronts, 2 * 16);
  EXPECT_EQ(conflicts_of("Sw<3,4,4> o (16,128):(128,1)", "mfma16", "amd", 1).wavefronts, 2 * 4);
  EXPECT_TRUE(conflicts_of("(16,64):(64,1)", "vector", "amd", 2).is_free());
}

TEST(Banks, AgreeWithACountByteByByte) {
  const char* tiles[] = {"(64,64):(64,1)", "Sw<3,3,3> o (64,64):(64,1)", "(64,64):(80,1)",
                         "Sw<2,3,4> o (64,64):(64,1)", "tile_to_shape((8,8):(8,1), (64,64))"};
  for (const char* tile : tiles) {
    for (const char* pattern : {"ldmatrix", "vector", "row", "column"}) {
      SCOPED_TRACE(std::string(tile) + " " + pattern);
      const Grid grid = grid_of(tile);
      const Access access = make_access(grid, pattern, "nvidia", 2);
      std::set<std::pair<std::int64_t, std::int64_t>> seen;
      std::int64_t total = 0;
      for (const Phase& phase : access.phases) {
        std::map<std::int64_t, std::set<std::int64_t>> words;
        for (const LaneRead& read : phase) {
          for (int i = 0; i < access.elements_per_lane; ++i) {
            seen.insert({read.row, read.column + i});
            for (int byte = 0; byte < 2; ++byte) {
              const std::int64_t address = grid.offset(read.row, read.column + i) * 2 + byte;
              words[address % 128 / 4].insert(address);
            }
          }
        }
        std::size_t most = 0;
        for (const auto& [bank, addresses] : words) {
          std::set<std::int64_t> distinct;
          for (std::int64_t address : addresses) distinct.insert(address / 4);
          most = std::max(most, distinct.size());
        }
        total += static_cast<std::int64_t>(most);
      }
      EXPECT_EQ(seen.size(), 64u * 64u) << "every element is read once";
      EXPECT_EQ(count_conflicts(grid, access).wavefronts, total);
    }
  }
}

TEST(Banks, RefusalsNameTheNumbers) {
  auto sentence = [](const char* expression, const char* pattern, const char* memory) {
    try {
      conflicts_of(expression, pattern, memory, 2);
    } catch (const Refusal& refusal) {
      return std::string(refusal.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(sentence("(9,32):(32,1)", "ldmatrix", "nvidia"),
            "ldmatrix reads blocks of 8 rows by 8 columns of 2 bytes; they do not divide the "
            "layout, which has 9 by 32.");
  EXPECT_EQ(sentence("(64,64)", "ldmatrix", "nvidia"),
            "ldmatrix reads 8 elements at once, but (0,0) lies at offset 0 and (0,1) at 64.");
  EXPECT_EQ(sentence("(64,64):(68,1)", "ldmatrix", "nvidia"),
            "ldmatrix reads 16 aligned bytes per lane, but (1,0) lies at byte 136.");
  EXPECT_EQ(sentence("(64,60):(64,1)", "vector", "nvidia"),
            "vector reads 8 elements per lane, which does not divide the 60 columns.");
  EXPECT_EQ(sentence("(64,64):(64,1)", "ldmatrix", "amd"),
            "--access ldmatrix is only known for --banks nvidia, not amd.");
  EXPECT_EQ(sentence("(64,64):(64,-1)", "row", "nvidia"),
            "A layout with negative offsets has no place in shared memory.");
  EXPECT_EQ(sentence("(_,64):(64,1)", "row", "nvidia"),
            "A layout with extents or strides known only at run time has no table.");
  EXPECT_EQ(sentence("(512,512)", "row", "nvidia"),
            "The layout has 262144 elements, too many to list or draw; at most 65536.");
}

TEST(Draw, ShowsEveryOffsetAndTheVerdict) {
  const Grid grid = grid_of("(64,64):(64,1)");
  Drawing drawing{"(64,64):(64,1)", grid, shared_memories()[0], 2, std::nullopt, {}};
  drawing.access = make_access(grid, "ldmatrix", "nvidia", 2);
  drawing.conflicts = count_conflicts(grid, *drawing.access);
  const std::string picture = draw(drawing);
  for (int offset = 0; offset < 4096; ++offset) {
    EXPECT_NE(picture.find("class=\"value\">" + std::to_string(offset) + "<"), std::string::npos);
  }
  EXPECT_NE(picture.find("ldmatrix: 8-way conflict"), std::string::npos);
}

}  // namespace
}  // namespace tw::layout_tool
