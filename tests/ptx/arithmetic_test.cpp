// What single instructions compute, at the edges of their types.
#include <bit>
#include <cmath>
#include <limits>

#include "tests/ptx/support.h"

namespace tw::vgpu::ptx {
namespace {

// One 32-bit instruction of %wa, %wb and %wc.
std::uint32_t word(const std::string& instruction, std::uint32_t a, std::uint32_t b = 0,
                   std::uint32_t c = 0) {
  const Computed computed = compute(instruction + "\n  cvt.u64.u32 %out, %w0;", a, b, c);
  EXPECT_EQ(computed.trouble, "") << instruction;
  return static_cast<std::uint32_t>(computed.value);
}
std::uint64_t wide(const std::string& instruction, std::uint64_t a, std::uint64_t b = 0,
                   std::uint64_t c = 0) {
  const Computed computed = compute(instruction, a, b, c);
  EXPECT_EQ(computed.trouble, "") << instruction;
  return computed.value;
}
std::uint16_t half(const std::string& instruction, std::uint16_t a, std::uint16_t b = 0,
                   std::uint16_t c = 0) {
  const Computed computed = compute(instruction + "\n  cvt.u64.u16 %out, %h0;", a, b, c);
  EXPECT_EQ(computed.trouble, "") << instruction;
  return static_cast<std::uint16_t>(computed.value);
}
std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint32_t floats(const std::string& instruction, float a, float b = 0, float c = 0) {
  return word(instruction, bits(a), bits(b), bits(c));
}
bool predicate(const std::string& instruction, std::uint64_t a, std::uint64_t b) {
  return wide(instruction + "\n selp.u64 %out, 1, 0, %p0;", a, b) != 0;
}

TEST(PtxArithmetic, IntegersWrap) {
  EXPECT_EQ(word("add.s32 %w0, %wa, %wb;", 0x7fffffff, 1), 0x80000000u);
  EXPECT_EQ(word("sub.u32 %w0, %wa, %wb;", 0, 1), 0xffffffffu);
  EXPECT_EQ(word("mul.lo.s32 %w0, %wa, %wb;", 0x10001, 0x10001), 0x20001u);
  EXPECT_EQ(word("mul.hi.u32 %w0, %wa, %wb;", 0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(word("mul.hi.s32 %w0, %wa, %wb;", 0xffffffff, 3), 0xffffffffu);
  EXPECT_EQ(word("mad.lo.s32 %w0, %wa, %wb, %wc;", 5, 7, 0xfffffffe), 33u);
  EXPECT_EQ(half("mul.lo.u16 %h0, %ha, %hb;", 0xffff, 0xffff), 1);
  EXPECT_EQ(wide("mul.wide.s32 %out, %wa, %wb;", 0xffffffff, 2), ~std::uint64_t{1});
  EXPECT_EQ(wide("mul.wide.u32 %out, %wa, %wb;", 0xffffffff, 2), 0x1fffffffeull);
  EXPECT_EQ(wide("mad.wide.s32 %out, %wa, %wb, %c;", 0xffffffff, 2, 5), 3u);
  EXPECT_EQ(wide("mul.hi.u64 %out, %a, %b;", ~0ull, ~0ull), ~0ull - 1);
  EXPECT_EQ(word("abs.s32 %w0, %wa;", 0x80000000), 0x80000000u);
}

TEST(PtxArithmetic, DotProductsOfBytes) {
  EXPECT_EQ(word("dp4a.u32.u32 %w0, %wa, %wb, %wc;", 0x01020304, 0xff000102, 5), 255u + 3 + 8 + 5);
  EXPECT_EQ(word("dp4a.s32.s32 %w0, %wa, %wb, %wc;", 0x01020304, 0xff000102, 5), 15u);
  EXPECT_EQ(word("dp4a.s32.u32 %w0, %wa, %wb, %wc;", 0x80000000, 0xff000000, 1), 1u - 128 * 255);
  EXPECT_EQ(word("dp2a.lo.s32.s32 %w0, %wa, %wb, %wc;", 0xffff0100, 0x000002ff, 7), 7u - 2 - 256);
  EXPECT_EQ(word("dp2a.hi.u32.u32 %w0, %wa, %wb, %wc;", 0x00030100, 0xff020000, 0), 3u * 255 + 512);
}

TEST(PtxArithmetic, DivisionsAlwaysEnd) {
  EXPECT_EQ(word("div.s32 %w0, %wa, %wb;", static_cast<std::uint32_t>(-7), 2),
            static_cast<std::uint32_t>(-3));
  EXPECT_EQ(word("rem.s32 %w0, %wa, %wb;", static_cast<std::uint32_t>(-7), 2),
            static_cast<std::uint32_t>(-1));
  EXPECT_EQ(word("div.u32 %w0, %wa, %wb;", 7, 0), 0xffffffffu);
  EXPECT_EQ(word("div.s32 %w0, %wa, %wb;", 0x80000000, 0xffffffff), 0x80000000u);
  EXPECT_EQ(wide("rem.s64 %out, %a, %b;", 0x8000000000000000, ~0ull), 0u);
}

TEST(PtxArithmetic, ShiftsAndFields) {
  EXPECT_EQ(word("shl.b32 %w0, %wa, 32;", 1), 0u);
  EXPECT_EQ(word("shr.s32 %w0, %wa, 99;", 0x80000000), 0xffffffffu);
  EXPECT_EQ(word("shr.u32 %w0, %wa, 31;", 0x80000000), 1u);
  EXPECT_EQ(wide("shr.s64 %out, %a, 60;", 0x8000000000000000), ~std::uint64_t{7});
  EXPECT_EQ(word("bfi.b32 %w0, %wa, %wb, 4, 8;", 0xab, 0xffffffff), 0xfffffabfu);
  EXPECT_EQ(wide("bfi.b64 %out, %a, %b, 32, 32;", 7, 9), 7ull << 32 | 9);
  EXPECT_EQ(word("bfe.u32 %w0, %wa, 28, 8;", 0xf0000000), 0xfu);
  EXPECT_EQ(word("bfe.s32 %w0, %wa, 4, 4;", 0x80), 0xfffffff8u);
  EXPECT_EQ(word("lop3.b32 %w0, %wa, %wb, %wc, 0x96;", 1, 3, 4), 1u ^ 3u ^ 4u);
  EXPECT_EQ(word("prmt.b32 %w0, %wa, %wb, 0x7190;", 0x00008311, 0x44000000), 0x4483ff11u);
  EXPECT_EQ(word("shf.r.wrap.b32 %w0, %wa, %wb, 36;", 0x12345678, 0x9abcdef0), 0x01234567u);
  EXPECT_EQ(word("shf.l.clamp.b32 %w0, %wa, %wb, 99;", 0x12345678, 0x9abcdef0), 0x12345678u);
  EXPECT_EQ(word("brev.b32 %w0, %wa;", 1), 0x80000000u);
  EXPECT_EQ(word("popc.b64 %w0, %a;", 0xff), 8u);
  EXPECT_EQ(word("clz.b32 %w0, %wa;", 1), 31u);
}

TEST(PtxArithmetic, FloatsRoundOnceAndKeepTheirZeros) {
  EXPECT_EQ(floats("add.f32 %w0, %wa, %wb;", 0x1p24f, 1), bits(0x1p24f));
  // A fused product keeps what a product alone loses.
  const float a = 1 + 0x1p-12f, c = -(1 + 0x1p-11f);
  EXPECT_EQ(floats("fma.rn.f32 %w0, %wa, %wb, %wc;", a, a, c), bits(0x1p-24f));
  EXPECT_EQ(floats("mul.f32 %w1, %wa, %wb;\n  add.f32 %w0, %w1, %wc;", a, a, c), bits(0.0f));
  EXPECT_EQ(floats("min.f32 %w0, %wa, %wb;", 0.0f, -0.0f), bits(-0.0f));
  EXPECT_EQ(floats("max.f32 %w0, %wa, %wb;", -0.0f, 0.0f), bits(0.0f));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(floats("max.f32 %w0, %wa, %wb;", nan, 2), bits(2.0f));
  EXPECT_EQ(floats("max.NaN.f32 %w0, %wa, %wb;", nan, 2), 0x7fffffffu);
  EXPECT_EQ(floats("copysign.f32 %w0, %wa, %wb;", -1, 3), bits(-3.0f));
  EXPECT_EQ(floats("mul.ftz.f32 %w0, %wa, %wb;", 0x1p-120f, 0x1p-10f), 0u);
  EXPECT_EQ(floats("add.ftz.f32 %w0, %wa, %wb;", -0x1p-130f, 0x1p-140f), bits(0.0f));
  EXPECT_EQ(floats("add.sat.f32 %w0, %wa, %wb;", 3, 4), bits(1.0f));
  EXPECT_EQ(floats("div.rn.f32 %w0, %wa, %wb;", 1, 3), bits(1.0f / 3));
  EXPECT_EQ(floats("sqrt.rn.f32 %w0, %wa;", 2), bits(std::sqrt(2.0f)));
  EXPECT_EQ(std::bit_cast<double>(
                wide("fma.rn.f64 %out, %a, %b, %c;", std::bit_cast<std::uint64_t>(0.5),
                     std::bit_cast<std::uint64_t>(3.0), std::bit_cast<std::uint64_t>(1.0))),
            2.5);
}

TEST(PtxArithmetic, ConversionsSaturateAndExtend) {
  EXPECT_EQ(wide("cvt.s64.s32 %out, %wa;", 0xffffffff), ~0ull);
  EXPECT_EQ(wide("cvt.s64.s8 %out, %wa;", 0x80), ~std::uint64_t{127});
  EXPECT_EQ(word("cvt.u32.s16 %w0, %ha;", 0xffff), 0xffffffffu);
  EXPECT_EQ(word("cvt.sat.s8.s32 %w0, %wa;", 300), 127u);
  EXPECT_EQ(floats("cvt.rni.s32.f32 %w0, %wa;", 2.5f), 2u);
  EXPECT_EQ(floats("cvt.rzi.s32.f32 %w0, %wa;", -2.9f), static_cast<std::uint32_t>(-2));
  EXPECT_EQ(floats("cvt.rzi.s32.f32 %w0, %wa;", 1e20f), 0x7fffffffu);
  EXPECT_EQ(floats("cvt.rzi.u32.f32 %w0, %wa;", -5), 0u);
  EXPECT_EQ(floats("cvt.rzi.s32.f32 %w0, %wa;", std::numeric_limits<float>::quiet_NaN()), 0u);
  EXPECT_EQ(word("cvt.rn.f32.u32 %w0, %wa;", 0xffffffff), bits(0x1p32f));
  EXPECT_EQ(word("cvt.f32.f16 %w0, %ha;", 0x3c00), bits(1.0f));
  EXPECT_EQ(floats("cvt.rn.bf16x2.f32 %w0, %wa, %wb;", 1, 2), 0x3f804000u);
  EXPECT_EQ(floats("cvt.rn.f16x2.f32 %w0, %wa, %wb;", 1, -2), 0x3c00c000u);
  EXPECT_EQ(floats("cvt.rn.satfinite.e4m3x2.f32 %h0, %wa, %wb;\n cvt.u32.u16 %w0, %h0;", 1, 1e9f),
            0x387eu);
}

TEST(PtxArithmetic, ComparisonsKnowSignsAndNan) {
  EXPECT_TRUE(predicate("setp.lt.s32 %p0, %wa, %wb;", 0xffffffff, 0));
  EXPECT_FALSE(predicate("setp.lt.u32 %p0, %wa, %wb;", 0xffffffff, 0));
  const std::uint32_t nan = 0x7fc00000;
  EXPECT_FALSE(predicate("setp.ne.f32 %p0, %wa, %wb;", nan, 0));
  EXPECT_TRUE(predicate("setp.neu.f32 %p0, %wa, %wb;", nan, 0));
  EXPECT_TRUE(predicate("setp.geu.f32 %p0, %wa, %wb;", nan, 0));
  EXPECT_TRUE(predicate("setp.nan.f32 %p0, %wa, %wb;", nan, 0));
  EXPECT_TRUE(predicate("setp.eq.s32 %p1, %wa, %wa;\n setp.lt.and.u32 %p0, %wa, %wb, %p1;", 1, 2));
  EXPECT_FALSE(predicate("setp.lt.u32 %p1|%p0, %wa, %wb;", 1, 2));
  EXPECT_TRUE(predicate("mov.pred %p1, -1;\n mov.pred %p2, 0;\n xor.pred %p0, %p1, %p2;", 0, 0));
}

TEST(PtxArithmetic, MovesPackAndUnpack) {
  EXPECT_EQ(wide("mov.b64 %out, {%wb, %wa};", 1, 2), 1ull << 32 | 2);
  EXPECT_EQ(word("mov.b64 {%w1, %w0}, %a;", 5ull << 32 >> 32), 0u);
  EXPECT_EQ(word("mov.b32 %w0, {%ha, %hb};", 0x1234, 0x5678), 0x56781234u);
  EXPECT_EQ(half("mov.b32 {%h1, %h0}, %wa;", 0x1234), 0);
  EXPECT_EQ(word("mov.b32 %w0, 0f3F800000;", 0), 0x3f800000u);
}

// Numbers of 16 bits are rounded once, to even where two are as near.
TEST(PtxArithmetic, Halves) {
  const std::string fma = "fma.rn.f16 %h0, %ha, %hb, %hc;";
  EXPECT_EQ(half(fma, 0x3c01, 0x3c01, 0x0001), 0x3c02);  // 1 + 2^-9 + 2^-20 + 2^-24
  EXPECT_EQ(half(fma, 0x3c01, 0x3c00, 0x1000), 0x3c02);  // 1 + 2^-10 + 2^-11
  EXPECT_EQ(half(fma, 0x3c00, 0x3c00, 0x1000), 0x3c00);  // 1 + 2^-11
  const std::string brain = "fma.rn.bf16 %h0, %ha, %hb, %hc;";
  EXPECT_EQ(half(brain, 0x3d80, 0x3d80, 0x3f80), 0x3f80);             // 2^-8 + 1
  EXPECT_EQ(half(brain, 0x3d81, 0x3d80, 0x3f80), 0x3f81);             // a little more
  EXPECT_EQ(half(brain, 0x0080, 0x3f80, 0x3f80), 0x3f80);             // 2^-126 + 1
  EXPECT_EQ(half("add.f16 %h0, %ha, %hb;", 0x7bff, 0x7bff), 0x7c00);  // infinite
  EXPECT_EQ(half("max.f16 %h0, %ha, %hb;", 0x7e00, 0x3c00), 0x3c00);
  EXPECT_EQ(half("max.NaN.f16 %h0, %ha, %hb;", 0x7e00, 0x3c00), 0x7fff);
  EXPECT_EQ(word("mul.bf16x2 %w0, %wa, %wb;", 0x40003f80, 0x40404000), 0x40c04000u);
  EXPECT_TRUE(predicate("setp.lt.f16 %p0, %ha, %hb;", 0x8001, 0x0000));
  EXPECT_TRUE(predicate("setp.eq.ftz.f32 %p0, %wa, %wb;", 1, 0));
}

// Two floats in one register: 1.5 and 2, times 2 and 3, plus 1 and -6.
TEST(PtxArithmetic, PairsOfFloats) {
  EXPECT_EQ(wide("fma.rn.f32x2 %out, %a, %b, %c;", 0x40000000'3fc00000, 0x40400000'40000000,
                 0xc0c00000'3f800000),
            0x00000000'40800000u);
}

TEST(PtxArithmetic, BranchesLoop) {
  EXPECT_EQ(wide(R"(
  mov.u64 %out, 0;
again:
  add.s64 %out, %out, %a;
  sub.s64 %a, %a, 1;
  setp.gt.s64 %p0, %a, 0;
  @%p0 bra again;)",
                 100),
            5050u);
}

}  // namespace
}  // namespace tw::vgpu::ptx
