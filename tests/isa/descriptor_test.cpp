// The descriptors of tcgen05 against values computed with NVIDIA's headers on a CPU.
#include <gtest/gtest.h>

#include "tilewright/isa/ptx/tcgen05_descriptor.h"

namespace tw::isa {
namespace {

namespace format = mma_format;
constexpr auto mn = OperandMajor::MN;

TEST(Tcgen05Descriptor, PlacesKMajorOperands) {
  EXPECT_EQ(tcgen05_k_major_descriptor(0, OperandSwizzle::Bytes128), 0x4000404000010000);
  EXPECT_EQ(tcgen05_k_major_descriptor(0, OperandSwizzle::Bytes64), 0x8000402000010000);
  EXPECT_EQ(tcgen05_k_major_descriptor(0, OperandSwizzle::Bytes32), 0xC000401000010000);
  // 128 rows: 16 groups of 8 rows of 16 bytes, then the second half of each row.
  EXPECT_EQ(tcgen05_matrix_descriptor(0, 16 * 128, 128, OperandSwizzle::None), 0x0000400800800000);
}

TEST(Tcgen05Descriptor, PlacesMnMajorOperands) {
  // 128 x 64 elements of 2 bytes, patterns along m first: two spans of 128 bytes, four of 64.
  EXPECT_EQ(tcgen05_matrix_descriptor(0, 1024, 2048, OperandSwizzle::Bytes128), 0x4000408000400000);
  EXPECT_EQ(tcgen05_matrix_descriptor(0, 512, 2048, OperandSwizzle::Bytes64), 0x8000408000200000);
  // Patterns along k first.
  EXPECT_EQ(tcgen05_mn_major_descriptor(0, 64 * 128, OperandSwizzle::Bytes128),
            tcgen05_matrix_descriptor(0, 8192, 1024, OperandSwizzle::Bytes128));
}

TEST(Tcgen05Descriptor, KeepsTheAddressInItsFourteenBits) {
  const auto at_zero = tcgen05_k_major_descriptor(0, OperandSwizzle::Bytes128);
  EXPECT_EQ(tcgen05_k_major_descriptor(0x0123'9000, OperandSwizzle::Bytes128), at_zero | 0x3900);
  EXPECT_EQ(tcgen05_advance(at_zero, 32), at_zero + 2);
}

TEST(Tcgen05Descriptor, EncodesInstructions) {
  const auto encode = tcgen05_instruction_descriptor;
  EXPECT_EQ(encode({.m = 128, .n = 256, .a = format::fp16, .b = format::fp16}), 0x08400010u);
  EXPECT_EQ(encode({.m = 128, .n = 256, .a = format::e4m3, .b = format::e4m3}), 0x08400010u);
  EXPECT_EQ(encode({.m = 128, .n = 128, .a = format::bf16, .b = format::bf16}), 0x08200490u);
  EXPECT_EQ(encode({.m = 256, .n = 256, .a = format::bf16, .b = format::bf16, .b_major = mn}),
            0x10410490u);
  EXPECT_EQ(encode({.m = 64, .n = 64, .a = format::tf32, .b = format::tf32, .a_major = mn}),
            0x04108910u);
  EXPECT_EQ(encode({.m = 128,
                    .n = 256,
                    .a = format::s8,
                    .b = format::s8,
                    .accumulator = MmaAccumulator::S32}),
            0x084004A0u);
  EXPECT_EQ(encode({.m = 128,
                    .n = 64,
                    .a = format::fp16,
                    .b = format::fp16,
                    .accumulator = MmaAccumulator::F16}),
            0x08100000u);
}

TEST(Tcgen05Descriptor, EncodesBlockScaledInstructions) {
  const auto encode = tcgen05_scaled_instruction_descriptor;
  EXPECT_EQ(encode({.m = 128, .n = 256, .a_code = 0, .b_code = 0}), 0x08C00000u);
  EXPECT_EQ(encode({.m = 128, .n = 256, .a_code = 1, .b_code = 1, .scale = ScaleFormat::Ue4m3}),
            0x08400480u);
  EXPECT_EQ(encode({.m = 256, .n = 128, .a_code = 1, .b_code = 1}), 0x10A00480u);
  EXPECT_EQ(encode({.m = 128, .n = 256, .a_code = 0, .b_code = 5}), 0x08C01400u);
  EXPECT_EQ(
      encode({.m = 128, .n = 256, .a_code = 0, .b_code = 0, .a_scale_id = 3, .b_scale_id = 3}),
      0x68C00030u);
}

}  // namespace
}  // namespace tw::isa
