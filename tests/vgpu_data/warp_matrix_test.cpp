#include "vgpu/data/warp_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "tilewright/number/narrow_float.h"
#include "vgpu/data/stmatrix.h"

namespace {

using tw::MmaType;
using namespace tw::vgpu;

struct Position {
  unsigned outer, k;  // row of a or column of b, and k
};

// Where the PTX manual puts element i of a lane, in its own terms: groupID, threadID_in_group and
// the index over all elements of the fragment.
Position a_position(MmaType type, unsigned lane, unsigned i) {
  const unsigned group = lane >> 2, member = lane & 3;
  switch (type) {
    case MmaType::Tf32: return {i == 0 || i == 2 ? group : group + 8, i < 2 ? member : member + 4};
    case MmaType::S8:
      return {i < 4 || (i >= 8 && i < 12) ? group : group + 8,
              i < 8 ? member * 4 + (i & 3) : member * 4 + (i & 3) + 16};
    default:
      return {i < 2 || (i >= 4 && i < 6) ? group : group + 8,
              i < 4 ? member * 2 + (i & 1) : member * 2 + (i & 1) + 8};
  }
}

Position b_position(MmaType type, unsigned lane, unsigned i) {
  const unsigned group = lane >> 2, member = lane & 3;
  switch (type) {
    case MmaType::Tf32: return {group, i == 0 ? member : member + 4};
    case MmaType::S8: return {group, i < 4 ? member * 4 + (i & 3) : member * 4 + (i & 3) + 16};
    default: return {group, i < 2 ? member * 2 + (i & 1) : member * 2 + (i & 1) + 8};
  }
}

unsigned bits_of(MmaType type) { return type == MmaType::Tf32 ? 32 : type == MmaType::S8 ? 8 : 16; }

std::uint32_t encode(MmaType type, int value) {
  const auto number = static_cast<float>(value);
  switch (type) {
    case MmaType::Bf16: return tw::Bf16(number).bits;
    case MmaType::F16: return tw::Fp16(number).bits;
    case MmaType::Tf32: return std::bit_cast<std::uint32_t>(number);
    default: return static_cast<std::uint8_t>(value);
  }
}

struct Fragments {
  std::uint32_t a[32][4] = {}, b[32][2] = {};
  std::uint32_t d[32][4] = {};  // bits of floats or integers

  MmaLanes lanes() {
    MmaLanes result;
    for (unsigned lane = 0; lane < 32; ++lane) {
      result.a[lane] = a[lane];
      result.b[lane] = b[lane];
      result.d[lane] = d[lane];
    }
    return result;
  }
  void fill(MmaType type, const int (&rows)[16][32], const int (&columns)[8][32]) {
    const unsigned bits = bits_of(type), per_register = 32 / bits;
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 4 * per_register; ++i) {
        const Position at = a_position(type, lane, i);
        a[lane][i / per_register] |= encode(type, rows[at.outer][at.k]) << i % per_register * bits;
      }
      for (unsigned i = 0; i < 2 * per_register; ++i) {
        const Position at = b_position(type, lane, i);
        b[lane][i / per_register] |= encode(type, columns[at.outer][at.k])
                                     << i % per_register * bits;
      }
    }
  }
};

class Mma : public ::testing::TestWithParam<MmaType> {};

TEST_P(Mma, MultipliesIntegersExactly) {
  const MmaType type = GetParam();
  const unsigned k_end = 256 / bits_of(type);
  std::mt19937 random(17);
  std::uniform_int_distribution<int> small(-8, 8);
  for (unsigned round = 0; round < 20; ++round) {
    int rows[16][32], columns[8][32];
    for (auto& row : rows)
      std::generate(std::begin(row), std::end(row), [&] { return small(random); });
    for (auto& column : columns) {
      std::generate(std::begin(column), std::end(column), [&] { return small(random); });
    }
    Fragments fragments;
    fragments.fill(type, rows, columns);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        const int start = static_cast<int>(lane * 4 + i) - 60;
        fragments.d[lane][i] = type == MmaType::S8
                                   ? static_cast<std::uint32_t>(start)
                                   : std::bit_cast<std::uint32_t>(static_cast<float>(start));
      }
    }
    mma_m16n8(type, fragments.lanes());
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned m = i < 2 ? lane >> 2 : (lane >> 2) + 8, n = (lane & 3) * 2 + (i & 1);
        int sum = static_cast<int>(lane * 4 + i) - 60;
        for (unsigned k = 0; k < k_end; ++k) sum += rows[m][k] * columns[n][k];
        const std::uint32_t expected = type == MmaType::S8
                                           ? static_cast<std::uint32_t>(sum)
                                           : std::bit_cast<std::uint32_t>(static_cast<float>(sum));
        EXPECT_EQ(fragments.d[lane][i], expected) << "m " << m << ", n " << n;
      }
    }
  }
}

std::string type_name(const ::testing::TestParamInfo<MmaType>& info) {
  constexpr const char* names[] = {"Bf16", "F16", "Tf32", "S8"};
  return names[static_cast<unsigned>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(, Mma,
                         ::testing::Values(MmaType::Bf16, MmaType::F16, MmaType::Tf32, MmaType::S8),
                         type_name);

TEST(MmaNumbers, IntegerSumsWrap) {
  Fragments fragments;
  fragments.a[0][0] = 0x7f;  // row 0, k 0
  fragments.b[0][0] = 0x7f;
  fragments.d[0][0] = std::numeric_limits<std::int32_t>::max();
  mma_m16n8(MmaType::S8, fragments.lanes());
  EXPECT_EQ(fragments.d[0][0], 0x7fffffffu + 127 * 127);
}

TEST(MmaNumbers, Tf32IgnoresTheLowBits) {
  Fragments fragments;
  fragments.a[0][0] = std::bit_cast<std::uint32_t>(3.0f) | 0x1fff;
  fragments.b[0][0] = std::bit_cast<std::uint32_t>(5.0f) | 0x1abc;
  mma_m16n8(MmaType::Tf32, fragments.lanes());
  EXPECT_EQ(std::bit_cast<float>(fragments.d[0][0]), 15.0f);
}

TEST(MmaNumbers, SpecialValuesGoThrough) {
  for (const MmaType type : {MmaType::Bf16, MmaType::F16}) {
    Fragments fragments;
    fragments.a[0][0] = type == MmaType::Bf16 ? 0x7f80 : 0x7c00;  // infinity
    fragments.b[0][0] = encode(type, -2);
    mma_m16n8(type, fragments.lanes());
    EXPECT_EQ(fragments.d[0][0], 0xff800000u);
  }
  Fragments subnormal;
  subnormal.a[0][0] = 0x0001;  // 2^-24
  subnormal.b[0][0] = encode(MmaType::F16, 16);
  mma_m16n8(MmaType::F16, subnormal.lanes());
  EXPECT_EQ(std::bit_cast<float>(subnormal.d[0][0]), 0x1p-20f);
}

// What stmatrix wrote, ldmatrix brings back: they are inverse, and stmatrix has its own test.
TEST(Ldmatrix, BringsBackWhatStmatrixWrote) {
  for (const bool transposed : {false, true}) {
    std::uint32_t written[32][4], found[32][4] = {};
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 4; ++i) written[lane][i] = lane * 0x01010101u + i * 0x00400040u;
    }
    std::byte memory[32 * 16];
    std::byte* rows[32];
    for (unsigned lane = 0; lane < 32; ++lane) rows[lane] = memory + (lane * 5 % 32) * 16;
    for_each_stmatrix_piece(rows, written, 4, transposed,
                            [](unsigned, unsigned, std::byte* address, const std::byte* value,
                               unsigned bytes) { std::memcpy(address, value, bytes); });
    for_each_ldmatrix_piece(
        rows, 4, transposed,
        [&](unsigned lane, unsigned matrix, const std::byte* address, unsigned at, unsigned bytes) {
          std::memcpy(reinterpret_cast<std::byte*>(&found[lane][matrix]) + at, address, bytes);
        });
    EXPECT_EQ(std::memcmp(written, found, sizeof found), 0);
  }
}

TEST(Ldmatrix, GivesEachLaneItsPair) {
  std::uint16_t matrices[4][8][8];
  const std::byte* rows[32];
  for (unsigned at = 0; at < 256; ++at) matrices[at / 64][at / 8 % 8][at % 8] = at;
  for (unsigned lane = 0; lane < 32; ++lane) {
    rows[lane] = reinterpret_cast<const std::byte*>(matrices[lane / 8][lane % 8]);
  }
  for (const bool transposed : {false, true}) {
    for_each_ldmatrix_piece(
        rows, 4, transposed,
        [&](unsigned lane, unsigned matrix, const std::byte* address, unsigned at, unsigned bytes) {
          for (unsigned half = 0; half < bytes / 2; ++half) {
            std::uint16_t value;
            std::memcpy(&value, address + 2 * half, 2);
            const unsigned outer = lane / 4, inner = lane % 4 * 2 + at / 2 + half;
            EXPECT_EQ(value, matrix * 64 + (transposed ? inner * 8 + outer : outer * 8 + inner));
          }
        });
  }
}

}  // namespace
