#include "vgpu/data/stmatrix.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "tilewright/isa/model.h"

namespace {

using namespace tw::vgpu;

// Element (row, column) of matrix i is the number 64 i + 8 row + column, held where PTX says.
void fill(std::uint32_t (&registers)[32][4], bool transpose) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      std::uint32_t pair = 0;
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned outer = lane / 4, inner = 2 * (lane % 4) + half;
        const unsigned value = 64 * matrix + (transpose ? 8 * inner + outer : 8 * outer + inner);
        pair |= value << (16 * half);
      }
      registers[lane][matrix] = pair;
    }
  }
}

TEST(Stmatrix, WritesEveryMatrixRowByRow) {
  for (bool transpose : {false, true}) {
    for (unsigned matrices : {1u, 2u, 4u}) {
      std::uint32_t registers[32][4];
      fill(registers, transpose);
      std::byte memory[32 * 48];
      std::memset(memory, 0xff, sizeof memory);
      std::byte* rows[32];
      for (unsigned lane = 0; lane < 32; ++lane) rows[lane] = memory + (lane * 11 % 32) * 48;
      std::set<std::pair<unsigned, unsigned>> givers;
      for_each_stmatrix_piece(rows, registers, matrices, transpose,
                              [&](unsigned lane, unsigned matrix, std::byte* address,
                                  const std::byte* value, unsigned bytes) {
                                givers.insert({lane, matrix});
                                std::memcpy(address, value, bytes);
                              });
      EXPECT_EQ(givers.size(), 32u * matrices);
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned column = 0; column < 24; ++column) {
          std::uint16_t found;
          std::memcpy(&found, rows[lane] + 2 * column, 2);
          const bool written = lane < 8 * matrices && column < 8;
          EXPECT_EQ(found, written ? 8 * lane + column : 0xffff)
              << "lane " << lane << ", column " << column << ", transpose " << transpose;
        }
      }
    }
  }
}

TEST(Stmatrix, NamesSharedAddresses) {
  std::uint32_t registers[32][4] = {};
  registers[13][2] = 0xbeefcafe;
  tw::SharedAddress rows[32];
  for (unsigned lane = 0; lane < 32; ++lane) rows[lane] = 0x1000 + 128 * lane;
  for_each_stmatrix_piece(rows, registers, 4, false,
                          [&](unsigned lane, unsigned matrix, tw::SharedAddress address,
                              const std::byte* value, unsigned bytes) {
                            if (lane != 13 || matrix != 2) return;
                            EXPECT_EQ(address, 0x1000u + 128 * (16 + 3) + 4);
                            EXPECT_EQ(bytes, 4u);
                            EXPECT_EQ(std::memcmp(value, &registers[13][2], 4), 0);
                          });
}

}  // namespace
