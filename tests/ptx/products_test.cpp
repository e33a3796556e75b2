// Products of warps of many types, and tensor memory: packed halves, and lanes that are left out.
#include <bit>
#include <cmath>

#include "tests/ptx/words.h"
#include "tilewright/number/narrow_float.h"

namespace tw::vgpu::ptx {
namespace {

// Integers from -2 to 3, in every type that has them.
int a_at(unsigned row, unsigned k) { return static_cast<int>((3 * row + 5 * k) % 6) - 2; }
int b_at(unsigned column, unsigned k) { return static_cast<int>((7 * column + k) % 6) - 2; }
int c_at(unsigned row, unsigned column) { return static_cast<int>(row * 8 + column) % 29; }

struct Shape {
  const char* form;
  const char* a;
  const char* b;
  unsigned k, bits;
  bool half_sums;
};

std::uint32_t bits_of(const std::string& type, int value) {
  const auto number = static_cast<float>(value);
  if (type == "bf16") return Bf16(number).bits;
  if (type == "f16") return Fp16(number).bits;
  if (type == "tf32") return std::bit_cast<std::uint32_t>(number);
  if (type == "e4m3") return E4m3(number).bits;
  if (type == "e5m2") return E5m2(number).bits;
  return static_cast<std::uint8_t>(value);
}
// What 8 bits without a sign make of it.
int seen(const std::string& type, int value) { return type == "u8" ? value & 0xff : value; }

// Words of one lane, one behind the other.
std::vector<std::uint32_t> registers_of(const Shape& shape, unsigned lane, bool is_a) {
  const unsigned elements = 32 / shape.bits, count = shape.k / (4 * elements) * (is_a ? 2 : 1);
  std::vector<std::uint32_t> registers(count);
  for (unsigned i = 0; i < count; ++i) {
    const unsigned outer = lane / 4 + (is_a ? i % 2 * 8 : 0);
    const unsigned k = elements * (lane % 4 + 4 * (is_a ? i / 2 : i));
    for (unsigned e = 0; e < elements; ++e) {
      const int value = is_a ? a_at(outer, k + e) : b_at(outer, k + e);
      registers[i] |= bits_of(is_a ? shape.a : shape.b, value) << (e * shape.bits);
    }
  }
  return registers;
}

std::string list_of(const char* name, std::size_t count) {
  std::string list = "{";
  for (std::size_t i = 0; i < count; ++i) {
    list += (i == 0 ? "%" : ", %") + std::string(name) + std::to_string(i);
  }
  return list + "}";
}

TEST(PtxProducts, ShapesAndTypesOfMma) {
  const Shape shapes[] = {{"f16.f16.f16.f16", "f16", "f16", 16, 16, true},
                          {"f16.f16.f16.f16", "f16", "f16", 8, 16, true},
                          {"f32.f16.f16.f32", "f16", "f16", 8, 16, false},
                          {"f32.bf16.bf16.f32", "bf16", "bf16", 8, 16, false},
                          {"f32.tf32.tf32.f32", "tf32", "tf32", 4, 32, false},
                          {"f32.e4m3.e4m3.f32", "e4m3", "e4m3", 32, 8, false},
                          {"f32.e4m3.e5m2.f32", "e4m3", "e5m2", 32, 8, false},
                          {"f32.e5m2.e4m3.f32", "e5m2", "e4m3", 16, 8, false},
                          {"f16.e5m2.e5m2.f16", "e5m2", "e5m2", 32, 8, true},
                          {"s32.s8.u8.s32", "s8", "u8", 32, 8, false},
                          {"s32.u8.s8.s32", "u8", "s8", 16, 8, false},
                          {"s32.u8.u8.s32", "u8", "u8", 32, 8, false}};
  for (const Shape& shape : shapes) {
    const bool is_integer = std::string(shape.form).starts_with("s32");
    const unsigned sums = shape.half_sums ? 2 : 4;
    const std::size_t a_count = registers_of(shape, 0, true).size(), b_count = a_count / 2;
    const std::size_t words = a_count + b_count + sums;
    std::vector<std::uint32_t> given(32 * 16, 0), got(32 * 4, 0);
    for (unsigned lane = 0; lane < 32; ++lane) {
      std::uint32_t* next = &given[lane * 16];
      for (const bool is_a : {true, false}) {
        for (const std::uint32_t word : registers_of(shape, lane, is_a)) *next++ = word;
      }
      for (unsigned i = 0; i < 4; ++i) {
        const int c = c_at(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
        if (shape.half_sums) {
          next[i / 2] |= bits_of("f16", c) << (i % 2 * 16);
        } else {
          next[i] = is_integer ? static_cast<std::uint32_t>(c) : bits_of("tf32", c);
        }
      }
    }
    std::string text = R"(
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .b64 %from, %to, %x; .reg .b32 %t, %a<4>, %b<2>, %c<4>;
  ld.param.u64 %from, [from];
  ld.param.u64 %to, [to];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %from, %t, 64, %from;
  mad.wide.u32 %to, %t, 16, %to;
)";
    for (std::size_t i = 0; i < words; ++i) {
      const bool is_a = i < a_count, is_b = !is_a && i < a_count + b_count;
      text += "  ld.global.u32 %" +
              std::string(is_a   ? "a"
                          : is_b ? "b"
                                 : "c") +
              std::to_string(is_a   ? i
                             : is_b ? i - a_count
                                    : i - a_count - b_count) +
              ", [%from+" + std::to_string(4 * i) + "];\n";
    }
    text += "  mma.sync.aligned.m16n8k" + std::to_string(shape.k) + ".row.col." + shape.form + " " +
            list_of("c", sums) + ", " + list_of("a", a_count) + ", " + list_of("b", b_count) +
            ", " + list_of("c", sums) + ";\n";
    for (unsigned i = 0; i < sums; ++i) {
      text += "  st.global.u32 [%to+" + std::to_string(4 * i) + "], %c" + std::to_string(i) + ";\n";
    }
    const GlobalRange memory[] = {{given.data(), 4 * given.size(), "from", true, false},
                                  {got.data(), 4 * got.size(), "to", false, true}};
    Parameters parameters;
    parameters.add(given.data()).add(got.data());
    Request request;
    request.block.x = 32;
    const Report report = run_text(text + "  ret;\n}\n", request, parameters, memory);
    ASSERT_EQ(report.verdict(), Report::Clean) << shape.form << text_of(report);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        int wanted = c_at(row, column);
        for (unsigned k = 0; k < shape.k; ++k) {
          wanted += seen(shape.a, a_at(row, k)) * seen(shape.b, b_at(column, k));
        }
        const std::uint32_t word = got[lane * 4 + (shape.half_sums ? i / 2 : i)];
        const std::uint32_t value = shape.half_sums ? word >> (i % 2 * 16) & 0xffff : word;
        ASSERT_EQ(value, shape.half_sums ? bits_of("f16", wanted)
                         : is_integer    ? static_cast<std::uint32_t>(wanted)
                                         : bits_of("tf32", wanted))
            << shape.form << " k " << shape.k << " at " << row << ", " << column;
      }
    }
  }
}

TEST(PtxProducts, IntegersSaturateWhereTheySaySo) {
  for (const bool saturates : {false, true}) {
    Words words;
    words.threads = 32;
    const std::string form = saturates ? ".satfinite" : "";
    const Report report = words.run(kernel(R"(
  mov.u32 %r0, 0x7f7f7f7f;
  mov.u32 %r1, 0x7fffff00;
  mma.sync.aligned.m16n8k32.row.col)" + form +
                                           R"(.s32.s8.s8.s32 {%r2, %r3, %r4, %r5},
    {%r0, %r0, %r0, %r0}, {%r0, %r0}, {%r1, %r1, %r1, %r1};
  st.global.u32 [%to], %r5;)"));
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    EXPECT_EQ(words.to[7], saturates ? 0x7fffffffu : 0x7fffff00u + 32 * 127 * 127);
  }
}

// 128 threads: columns of tensor memory, allocated by warp 0 and freed by it.
std::string with_tensor_memory(const std::string& body) {
  return R"(
.shared .align 16 .b8 zone[8192];
.shared .b32 place;
.shared .b64 barrier;
.visible .entry k(.param .u64 to)
{
  .reg .b64 %to, %a, %b; .reg .b32 %t, %d, %q, %r<20>; .reg .pred %p<4>;
  ld.param.u64 %to, [to];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %to, %t, 32, %to;
  setp.ge.u32 %p0, %t, 32;
  @%p0 bra allocated;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 32;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra begun;
  mbarrier.init.shared.b64 [barrier], 1;
  fence.mbarrier_init.release.cluster;
begun:
  bar.sync 0;
  ld.shared.u32 %d, [place];
  and.b32 %q, %t, 96;
  shl.b32 %q, %q, 16;
  add.u32 %q, %q, %d;
)" + body +
         R"(
  tcgen05.wait::ld.sync.aligned;
  bar.sync 0;
  @%p0 bra over;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 32;
over:
  ret;
}
)";
}

Report run_with_tensor_memory(const std::string& body, std::vector<std::uint32_t>& to,
                              Landing landing) {
  to.assign(128 * 8, 0);
  const GlobalRange memory[] = {{to.data(), 4 * to.size(), "to", false, true}};
  Parameters parameters;
  parameters.add(to.data());
  Request request;
  request.block.x = 128;
  Options options;
  options.landing = landing;
  return run_text(with_tensor_memory(body), request, parameters, memory, options);
}

TEST(PtxProducts, TensorMemoryPacksHalves) {
  const std::string body = R"(
  mad.lo.u32 %r0, %t, 0x10003, 0x20001;
  mad.lo.u32 %r1, %t, 0x50007, 0x40009;
  tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%q], {%r0, %r1};
  tcgen05.wait::st.sync.aligned;
  tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r2, %r3, %r4, %r5}, [%q];
  tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%r6, %r7}, [%q];
  tcgen05.wait::ld.sync.aligned;
  st.global.v4.u32 [%to], {%r2, %r3, %r4, %r5};
  st.global.v2.u32 [%to+16], {%r6, %r7};)";
  for (const Landing landing : all_landings) {
    std::vector<std::uint32_t> to;
    const Report report = run_with_tensor_memory(body, to, landing);
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    for (unsigned t = 0; t < 128; ++t) {
      const std::uint32_t first = t * 0x10003 + 0x20001, second = t * 0x50007 + 0x40009;
      EXPECT_EQ(to[8 * t], first & 0xffff);
      EXPECT_EQ(to[8 * t + 1], first >> 16);
      EXPECT_EQ(to[8 * t + 2], second & 0xffff);
      EXPECT_EQ(to[8 * t + 3], second >> 16);
      EXPECT_EQ(to[8 * t + 4], first);
      EXPECT_EQ(to[8 * t + 5], second);
    }
  }
}

// A and B are ones, and k is 16: lanes that the mask names keep what a store has left there.
TEST(PtxProducts, LanesAreLeftOut) {
  std::string body;
  for (unsigned i = 0; i < 16; ++i) {
    body += "  st.shared.u32 [%r1+" + std::to_string(512 * i) + "], 0x3f803f80;\n";
  }
  constexpr unsigned instruction = 1 << 4 | 1 << 7 | 1 << 10 | 16 / 8 << 17 | 128 / 16 << 24;
  body = "  mov.u32 %r0, zone;\n  shl.b32 %r1, %t, 2;\n  add.u32 %r1, %r0, %r1;\n" + body + R"(
  tcgen05.st.sync.aligned.32x32b.x2.b32 [%q], {%t, %t};
  tcgen05.wait::st.sync.aligned;
  fence.proxy.async.shared::cta;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  @%p1 bra wait;
  shr.u32 %r2, %r0, 4;
  cvt.u64.u32 %a, %r2;
  or.b64 %a, %a, 0x401000080000;  // 128 bytes between halves of k, 256 between eight rows
  setp.ne.u32 %p2, %t, %t;
  mov.u32 %r3, )" +
         std::to_string(instruction) + R"(;
  mov.u32 %r4, 0x80000001;
  mov.u32 %r5, 0;
  mov.u32 %r6, 0xff;
  tcgen05.mma.cta_group::1.kind::f16 [%d], %a, %a, %r3, {%r4, %r5, %r6, %r5}, %p2;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [barrier];
wait:
  mbarrier.try_wait.parity.shared.b64 %p3, [barrier], 0;
  @!%p3 bra wait;
  tcgen05.fence::after_thread_sync;
  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r7, %r8}, [%q];
  tcgen05.wait::ld.sync.aligned;
  st.global.v2.u32 [%to], {%r7, %r8};)";
  for (const Landing landing : all_landings) {
    std::vector<std::uint32_t> to;
    const Report report = run_with_tensor_memory(body, to, landing);
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    for (unsigned t = 0; t < 128; ++t) {
      const bool kept = t == 0 || t == 31 || (t >= 64 && t < 72);
      EXPECT_EQ(to[8 * t], kept ? t : std::bit_cast<std::uint32_t>(16.0f)) << t;
    }
  }
}

}  // namespace
}  // namespace tw::vgpu::ptx
