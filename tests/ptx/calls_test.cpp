// Calls of functions, printf and assert.
#include "tests/ptx/words.h"

namespace tw::vgpu::ptx {
namespace {

// A function with a struct and a word for arguments, a local variable whose address it hands on,
// and a result.
constexpr const char* functions = R"(
.func (.param .b32 r) twice(.param .b64 p)
{
  .reg .b64 %a; .reg .b32 %v;
  ld.param.b64 %a, [p];
  ld.u32 %v, [%a];
  shl.b32 %v, %v, 1;
  st.param.b32 [r], %v;
  ret;
}
.func (.param .b32 r) weigh(.param .align 8 .b8 pair[8], .param .b32 more)
{
  .local .align 4 .b8 depot[4];
  .param .b64 inner; .param .b32 got;
  .reg .b32 %v<4>; .reg .b64 %a<2>;
  ld.param.b32 %v0, [pair];
  ld.param.b32 %v1, [pair+4];
  ld.param.b32 %v2, [more];
  mad.lo.s32 %v0, %v0, 100, %v1;
  add.s32 %v0, %v0, %v2;
  mov.b64 %a0, depot;
  cvta.local.u64 %a1, %a0;
  st.local.u32 [%a0], %v0;
  st.param.b64 [inner], %a1;
  call.uni (got), twice, (inner);
  ld.param.b32 %v3, [got];
  st.param.b32 [r+0], %v3;
  ret;
}
)";

constexpr const char* calling = R"(
  .param .align 8 .b8 pair[8]; .param .b32 more; .param .b32 result;
  ld.global.u32 %r0, [%from];
  st.param.b32 [pair], %r0;
  st.param.b32 [pair+4], 7;
  st.param.b32 [more], %t;
  call.uni (result), weigh, (pair, more);
  ld.param.b32 %r1, [result];
  st.global.u32 [%to], %r1;)";

TEST(PtxCalls, ParametersLocalMemoryAndResults) {
  for (const Landing landing : all_landings) {
    Words words;
    Options options;
    options.landing = landing;
    const Report report = words.run(kernel(calling, functions), options);
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], 2 * (100 * i + 7 + i));
  }
}

TEST(PtxCalls, ByAddressAndRecursion) {
  Words words;
  const std::string text = R"(
.func (.param .b32 r) sum_to(.param .b32 n)
{
  .param .b32 less; .param .b32 got;
  .reg .b32 %v<3>; .reg .pred %p;
  ld.param.b32 %v0, [n];
  mov.u32 %v2, 0;
  setp.eq.u32 %p, %v0, 0;
  @%p bra over;
  sub.u32 %v1, %v0, 1;
  st.param.b32 [less], %v1;
  call (got), sum_to, (less);
  ld.param.b32 %v2, [got];
  add.u32 %v2, %v2, %v0;
over:
  st.param.b32 [r], %v2;
  ret;
}
.global .u64 table[1] = {sum_to};
)";
  const Report report = words.run(kernel(R"(
  .param .b32 n; .param .b32 got;
proto: .callprototype (.param .b32 _) _ (.param .b32 _);
  ld.global.u64 %x0, [table];
  and.b32 %r0, %t, 15;
  st.param.b32 [n], %r0;
  call (got), %x0, (n), proto;
  ld.param.b32 %r1, [got];
  st.global.u32 [%to], %r1;)",
                                         text));
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], i % 16 * (i % 16 + 1) / 2);
}

TEST(PtxCalls, AnAddressThatIsNoFunctionIsFound) {
  Words words;
  const Report report = words.run(kernel(R"(
proto: .callprototype _ ();
  mov.u64 %x0, 4096;
  call %x0, (), proto;)"));
  EXPECT_TRUE(finds(report, "bounds")) << text_of(report);
  EXPECT_TRUE(says(report, "calls the address 0x1000, where no function is")) << text_of(report);
}

// A race inside of a function names both lines, and where the function was called.
TEST(PtxCalls, FindingsSayWhoCalled) {
  const std::string text = R"(.shared .align 16 .b8 tile[256];
.func put(.param .b32 at)
{
  .reg .b32 %a;
  ld.param.b32 %a, [at];
  st.shared.u32 [%a], %a;
  ret;
}
)";
  Words words;
  const Report report = words.run(kernel(R"(
  .param .b32 at;
  mov.u32 %r0, tile;
  st.param.b32 [at], %r0;
  call.uni put, (at);)",
                                         text));
  EXPECT_TRUE(finds(report, "race")) << text_of(report);
  EXPECT_TRUE(says(report, "It is at line 9, called at line ")) << text_of(report);
  EXPECT_TRUE(says(report, "The other access is at line 9.")) << text_of(report);
}

constexpr const char* declared = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 values);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,
  .param .b64 s);
.global .align 1 .b8 format[26] = {120, 32, 61, 32, 37, 100, 44, 32, 37, 46, 50, 102, 44, 32, 37,
  53, 108, 108, 120, 44, 32, 37, 115, 10, 37};
.global .align 1 .b8 word[4] = {97, 98, 99};
)";

TEST(PtxCalls, PrintfSaysWhoWrites) {
  Words words;
  words.threads = 32;
  const Report report = words.run(kernel(R"(
  .local .align 8 .b8 values[32]; .param .b64 f; .param .b64 v; .param .b32 r;
  setp.lt.u32 %p0, %t, 30;
  @%p0 bra over;
  mov.u64 %x0, values;
  sub.s32 %r0, 29, %t;
  st.local.u32 [%x0], %r0;
  mov.f64 %x1, 0d3FF8000000000000;
  st.local.u64 [%x0+8], %x1;
  st.local.u64 [%x0+16], 255;
  mov.u64 %x2, word;
  st.local.u64 [%x0+24], %x2;
  cvta.local.u64 %x0, %x0;
  mov.u64 %x3, format;
  st.param.b64 [f], %x3;
  st.param.b64 [v], %x0;
  call.uni (r), vprintf, (f, v);
over:)",
                                         declared));
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  std::vector<std::string> lines = words.printed;
  std::sort(lines.begin(), lines.end());
  const std::vector<std::string> wanted = {
      "CTA 0, thread 30: %", "CTA 0, thread 30: x = -1, 1.50,    ff, abc", "CTA 0, thread 31: %",
      "CTA 0, thread 31: x = -2, 1.50,    ff, abc"};
  EXPECT_EQ(lines, wanted);
}

TEST(PtxCalls, AFailedAssertionIsFound) {
  Words words;
  const Report report = words.run(kernel(R"(
  .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
  setp.ne.u32 %p0, %t, 5;
  @%p0 bra over;
  mov.u64 %x0, word;
  st.param.b64 [m], %x0; st.param.b64 [f], %x0; st.param.b64 [n], %x0;
  st.param.b32 [l], 12; st.param.b64 [s], 1;
  call.uni __assertfail, (m, f, l, n, s);
over:)",
                                         declared));
  EXPECT_TRUE(finds(report, "exception")) << text_of(report);
  EXPECT_TRUE(says(report, "The thread 5 of CTA 0 fails the assertion 'abc' of abc (abc:12)."))
      << text_of(report);
}

TEST(PtxCalls, FunctionsOfTheDriverWithoutAModelAreIncomplete) {
  Words words;
  const Report report = words.run(kernel(R"(
  .param .b64 n; .param .b64 r;
  st.param.b64 [n], 8;
  call.uni (r), malloc, (n);)",
                                         ".extern .func (.param .b64 r) malloc(.param .b64 n);"));
  EXPECT_EQ(report.verdict(), Report::Incomplete);
  EXPECT_TRUE(says(report, "calls malloc, which has no model")) << text_of(report);
}

}  // namespace
}  // namespace tw::vgpu::ptx
