// Threads that run PTX: memory of every space, warps, barriers, and what has no model.
#include "tests/ptx/words.h"

namespace tw::vgpu::ptx {
namespace {

constexpr const char* reversed_through_shared = R"(
  ld.global.u32 %r0, [%from];
  mov.u32 %r1, tile;
  shl.b32 %r2, %t, 2;
  add.s32 %r3, %r1, %r2;
  st.shared.u32 [%r3], %r0;
  bar.sync 0;
  sub.s32 %r4, %r1, %r2;
  ld.shared.u32 %r5, [%r4+252];
  st.global.u32 [%to], %r5;)";
constexpr const char* tile = ".shared .align 16 .b8 tile[256];";

TEST(PtxRun, SharedMemoryAndBarriers) {
  for (const Landing landing : {Landing::Eager, Landing::Random, Landing::Adversarial}) {
    Words words;
    Options options;
    options.landing = landing;
    const Report report = words.run(kernel(reversed_through_shared, tile), options);
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], 63 - i);
  }
}

TEST(PtxRun, AMissingBarrierIsARaceWithItsLine) {
  Words words;
  std::string body = reversed_through_shared;
  body.erase(body.find("  bar.sync 0;"), 13);
  const Report report = words.run(kernel(body, tile));
  ASSERT_EQ(report.verdict(), Report::Found) << text_of(report);
  // Threads read what nobody has written, or write where somebody reads.
  EXPECT_NE(text_of(report).find("It is at line "), std::string::npos) << text_of(report);
}

TEST(PtxRun, DynamicSharedMemoryBeginsBehindVariables) {
  Words words;
  words.dynamic_shared = 256;
  const Report report = words.run(kernel(
      R"(
  mov.u32 %r1, tile;
  mov.u32 %r2, dynamic;
  sub.s32 %r3, %r2, %r1;
  st.global.u32 [%to], %r3;)",
      ".shared .align 4 .b8 tile[100];\n.extern .shared .align 128 .b8 dynamic[];"));
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  EXPECT_EQ(words.to[5], 128u);
}

TEST(PtxRun, LocalConstantAndGenericMemory) {
  Words words;
  const Report report = words.run(kernel(
      R"(
  .local .align 8 .b8 depot[32];
  mov.u64 %x0, depot;
  cvta.local.u64 %x1, %x0;
  st.u32 [%x1+4], %t;
  ld.local.u32 %r0, [%x0+4];
  mov.u64 %x2, table;
  ld.const.u32 %r1, [%x2+8];
  ld.global.u64 %x3, [pointer];
  ld.u32 %r2, [%x3];
  mov.u64 %x4, tile;
  cvta.shared.u64 %x5, %x4;
  add.s64 %x5, %x5, %x7;
  st.u32 [%x5], %r2;
  ld.u32 %r3, [%x5];
  add.s32 %r4, %r0, %r1;
  add.s32 %r4, %r4, %r3;
  st.u32 [%to], %r4;)",
      ".const .u32 table[3] = {1, 2, 300};\n.global .u32 value = 5000;\n"
      ".global .u64 pointer = generic(value);\n.shared .align 4 .b8 tile[256];"));
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], i + 5300);
}

TEST(PtxRun, ShufflesAndVotes) {
  Words words;
  const Report report = words.run(kernel(R"(
  ld.global.u32 %r0, [%from];
  shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;
  shfl.sync.down.b32 %r2|%p0, %r0, 16, 31, -1;
  selp.u32 %r3, 1000, 0, %p0;
  shfl.sync.up.b32 %r4, %r0, 1, 0, -1;
  setp.gt.u32 %p1, %r0, 61;
  vote.sync.ballot.b32 %r5, %p1, -1;
  redux.sync.max.u32 %r6, %r0, -1;
  xor.b32 %r7, %r1, %r4;
  add.s32 %r8, %r2, %r3;
  mad.lo.s32 %r8, %r7, 10000, %r8;
  shr.u32 %r5, %r5, 30;
  add.s32 %r8, %r8, %r5;
  add.s32 %r8, %r8, %r6;
  st.global.u32 [%to], %r8;)"));
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned lane = i % 32, up = lane == 0 ? i : i - 1;
    const unsigned down = lane < 16 ? i + 16 + 1000 : i;
    const unsigned votes = i < 32 ? 0 : 3, most = i < 32 ? 31 : 63;
    EXPECT_EQ(words.to[i], ((i ^ 1) ^ up) * 10000 + down + votes + most) << i;
  }
}

TEST(PtxRun, TablesOfTargets) {
  Words words;
  const Report report = words.run(kernel(R"(
  and.b32 %r0, %t, 3;
targets: .branchtargets first, second, third, first;
  brx.idx %r0, targets;
first:
  mov.u32 %r1, 100;
  bra.uni over;
second:
  mov.u32 %r1, 200;
  bra.uni over;
third:
  mov.u32 %r1, 300;
over:
  st.global.u32 [%to], %r1;)"));
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], i % 4 == 3 ? 100 : 100 * (i % 4 + 1));
}

// Halves of a warp, and pairs of its lanes, each among themselves.
TEST(PtxRun, MasksNameLanes) {
  Words words;
  const Report report = words.run(kernel(R"(
  ld.global.u32 %r0, [%from];
  and.b32 %r9, %t, 16;
  shl.b32 %r1, 65535, %r9;
  setp.ne.u32 %p0, %r9, 0;
  @%p0 bra upper;
  redux.sync.add.u32 %r2, %r0, %r1;
  bra.uni joined;
upper:
  shfl.sync.bfly.b32 %r2, %r0, 1, 31, %r1;
joined:
  bar.warp.sync -1;
  and.b32 %r3, %r0, 3;
  match.any.sync.b32 %r4, %r3, -1;
  popc.b32 %r5, %r4;
  setp.eq.u32 %p1, %r3, 0;
  vote.sync.any.pred %p2, !%p1, %r1;
  selp.u32 %r6, 100000, 0, %p2;
  mad.lo.u32 %r2, %r5, 1000, %r2;
  add.s32 %r2, %r2, %r6;
  st.global.u32 [%to], %r2;)"));
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned first = i / 16 * 16, sum = 16 * first + 120;
    EXPECT_EQ(words.to[i], (i % 32 < 16 ? sum : i ^ 1) + 8000 + 100000) << i;
  }
}

TEST(PtxRun, AMaskThatLeavesTheLaneOutIsFound) {
  Words words;
  const Report report = words.run(kernel("  shfl.sync.bfly.b32 %r1, %t, 1, 31, 3;"));
  ASSERT_FALSE(report.findings.empty()) << text_of(report);
  EXPECT_EQ(report.findings[0].checker, Checker::Divergence) << text_of(report);
}

// Strong accesses: counters of all kinds, and what a fence makes of relaxed ones.
TEST(PtxRun, AtomicOperations) {
  Words words;
  const Report report = words.run(kernel(
      R"(
  setp.eq.u32 %p0, %t, 0;
  @%p0 st.shared.u32 [count], 0;
  bar.sync 0;
  atom.shared.add.u32 %r0, [count], 1;
  bar.sync 0;
  ld.shared.u32 %r1, [count];
  mov.u64 %x0, sums;
  red.relaxed.gpu.global.add.u32 [%x0], %t;
  atom.global.gpu.acq_rel.max.s32 %r2, [%x0+4], %t;
  atom.global.inc.u32 %r3, [%x0+8], 6;
  red.global.add.f32 [%x0+12], 0f3F000000;
  atom.global.add.noftz.f16x2 %r5, [%x0+16], 1006648320;
  fence.acq_rel.gpu;
  bar.sync 0;
  ld.relaxed.gpu.global.v4.u32 {%r6, %r7, %r8, %r9}, [%x0];
  ld.volatile.global.u32 %r10, [%x0+16];
  mad.lo.u32 %r6, %r7, 10000, %r6;
  mad.lo.u32 %r6, %r8, 1000000, %r6;
  add.u32 %r6, %r6, %r1;
  xor.b32 %r6, %r6, %r9;
  xor.b32 %r6, %r6, %r10;
  st.global.u32 [%to], %r6;)",
      ".shared .u32 count;\n.global .align 16 .b8 sums[32];"));
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  // 2016 = 0 + 1 + ... + 63; 64 steps from 0 to 6 end at 1; 64 halves are 32; 64 ones in f16.
  const unsigned expected = (2016 + 63 * 10000 + 1000000 + 64) ^ 0x4200'0000u ^ 0x5400'5400u;
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], expected) << i;
}

// One warp hands a word in global memory to the other by a flag; without release and acquire it is
// a race.
TEST(PtxRun, FlagsPublish) {
  struct Case {
    const char *store, *load;
    bool is_ordered;
  };
  for (const auto& [store, load, is_ordered] :
       {Case{"st.release.gpu.global.u32 [flag], 1;", "ld.acquire.gpu.global.u32 %r4, [flag];",
             true},
        Case{"fence.acq_rel.gpu;\n  st.relaxed.gpu.global.u32 [flag], 1;",
             "ld.relaxed.gpu.global.u32 %r4, [flag];\n  fence.acq_rel.gpu;", true},
        Case{"membar.gl;\n  atom.global.exch.b32 %r5, [flag], 1;",
             "ld.volatile.global.u32 %r4, [flag];\n  membar.gl;", true},
        Case{"st.relaxed.gpu.global.u32 [flag], 1;", "ld.relaxed.gpu.global.u32 %r4, [flag];",
             false}}) {
    for (const Landing landing :
         {Landing::Eager, Landing::Lazy, Landing::Random, Landing::Adversarial}) {
      Words words;
      Options options;
      options.landing = landing;
      const std::string body = std::string(R"(
  mov.u64 %x0, value;
  setp.eq.u32 %p0, %t, 0;
  setp.eq.u32 %p1, %t, 32;
  @%p0 bra produce;
  @%p1 bra consume;
  bra.uni over;
produce:
  st.global.u32 [%x0], 77;
  )") + store + R"(
  bra.uni over;
consume:
  )" + load + R"(
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra consume;
  ld.global.u32 %r6, [%x0];
  st.global.u32 [%to], %r6;
over:)";
      const Report report =
          words.run(kernel(body, ".global .u32 flag;\n.global .u32 value;"), options);
      if (!is_ordered) {
        EXPECT_EQ(report.verdict(), Report::Found) << store << name_of(landing);
        continue;
      }
      ASSERT_EQ(report.verdict(), Report::Clean) << store << text_of(report);
      EXPECT_EQ(words.to[32], 77u);
    }
  }
}

TEST(PtxRun, ThreadsAndGridsHaveThreeDimensions) {
  std::vector<std::uint32_t> to(2 * 3 * 2 * 4 * 2 * 2);
  const GlobalRange memory[] = {{to.data(), to.size() * 4, "to", false, true}};
  Parameters parameters;
  parameters.add(to.data());
  Request request;
  request.grid = {2, 3, 2};
  request.block = {4, 2, 2};
  const Report report = run_text(R"(
.visible .entry k(.param .u64 to)
{
  .reg .b64 %to, %x;
  .reg .b32 %r<12>;
  ld.param.u64 %to, [to];
  mov.u32 %r0, %ctaid.z; mov.u32 %r1, %nctaid.y; mov.u32 %r2, %ctaid.y;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  mov.u32 %r4, %nctaid.x; mov.u32 %r5, %ctaid.x;
  mad.lo.u32 %r3, %r3, %r4, %r5;
  mov.u32 %r6, %tid.z; mov.u32 %r7, %tid.y; mov.u32 %r8, %tid.x;
  mad.lo.u32 %r3, %r3, 2, %r6;
  mad.lo.u32 %r3, %r3, %ntid.y, %r7;
  mad.lo.u32 %r3, %r3, %ntid.x, %r8;
  mul.wide.u32 %x, %r3, 4;
  add.s64 %to, %to, %x;
  st.global.u32 [%to], %r3;
  ret;
}
)",
                                 request, parameters, memory);
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  for (unsigned i = 0; i < to.size(); ++i) EXPECT_EQ(to[i], i);
}

TEST(PtxRun, AnInstructionWithoutModelIsIncompleteWithItsLine) {
  Words words;
  const Report report = words.run(kernel("  frobnicate.b32 %r0, %t;"));
  EXPECT_EQ(report.verdict(), Report::Incomplete);
  ASSERT_EQ(report.incomplete.size(), 1u) << text_of(report);
  EXPECT_EQ(report.incomplete[0],
            "The thread 0 of CTA 0 stopped at line 16: frobnicate.b32 has no model.");
}

TEST(PtxRun, AnInstructionThatNobodyReachesIsNoObstacle) {
  Words words;
  const Report report =
      words.run(kernel("  bra behind;\n  frobnicate.b32 %r0, %t;\nbehind:"
                       "\n  st.global.u32 [%to], %t;"));
  EXPECT_EQ(report.verdict(), Report::Clean) << text_of(report);
}

TEST(PtxRun, OperandsWithoutModelAreIncomplete) {
  Words words;
  // A wide register where a narrow one belongs; an unknown special register.
  for (const char* const body : {"  add.s32 %x0, %t, 1;", "  mov.u64 %x0, %clock64;"}) {
    const Report report = words.run(kernel(body));
    EXPECT_EQ(report.verdict(), Report::Incomplete) << body << text_of(report);
  }
}

TEST(PtxRun, WrongAddressesAreFindings) {
  struct Case {
    const char* body;
    Checker checker;
  };
  for (const auto& [body, checker] :
       {Case{"  st.global.u32 [%to+4096], %t;", Checker::Bounds},
        Case{"  st.global.u32 [%from], %t;", Checker::Bounds},
        Case{"  ld.global.u64 %x0, [%from+4];", Checker::Alignment},
        Case{"  st.shared.u32 [4096], %t;", Checker::Bounds},
        Case{"  .local .b8 depot[8];\n  mov.u64 %x0, depot;\n  st.local.u32 [%x0+8], %t;",
             Checker::Bounds},
        Case{"  ld.param.u32 %r0, [to+8];", Checker::Bounds},
        Case{"  ld.global.u32 %r0, [%to];", Checker::Uninitialised}}) {
    Words words;
    const Report report = words.run(kernel(body));
    ASSERT_FALSE(report.findings.empty()) << body << text_of(report);
    EXPECT_EQ(report.findings[0].checker, checker) << body << text_of(report);
    EXPECT_NE(report.findings[0].text.find("It is at line "), std::string::npos) << text_of(report);
  }
}

TEST(PtxRun, RequestsThatDoNotFitAreIncomplete) {
  const std::string text = ".visible .entry k(.param .u64 a) { ret; }";
  Request request;
  const Report report = run_text(text, request, {}, {});
  ASSERT_EQ(report.incomplete.size(), 1u);
  EXPECT_EQ(report.incomplete[0], "k takes 8 bytes of parameters, and not 0.");
  request.block.x = 2048;
  EXPECT_EQ(run_text(".visible .entry k() { ret; }", request, {}, {}).verdict(),
            Report::Incomplete);
  EXPECT_EQ(run_text(".visible .entry other() { ret; }", {}, {}, {}).incomplete[0],
            "The module has no entry 'k'.");
}

// Threads of one half wait for the others at an mbarrier, by test_wait or try_wait.
TEST(PtxRun, MbarriersPublish) {
  for (const std::string wait : {"test_wait", "try_wait"}) {
    for (const Landing landing :
         {Landing::Eager, Landing::Lazy, Landing::Random, Landing::Adversarial}) {
      for (const bool waits : {true, false}) {
        Words words;
        Options options;
        options.landing = landing;
        const std::string body = R"(
  mov.u32 %r1, tile;
  shl.b32 %r2, %t, 2;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra begun;
  mbarrier.init.shared.b64 [barrier], 32;
begun:
  bar.sync 0;
  setp.ge.u32 %p1, %t, 32;
  @%p1 bra consume;
  add.s32 %r3, %r1, %r2;
  st.shared.u32 [%r3], %t;
  mbarrier.arrive.shared.b64 _, [barrier];
  bra.uni over;
consume:
)" +
                                 std::string(waits ? "  mbarrier." + wait +
                                                         ".parity.shared.b64 %p2, [barrier], 0;\n"
                                                         "  @!%p2 bra consume;\n"
                                                   : "") +
                                 R"(
  add.s32 %r3, %r1, %r2;
  ld.shared.u32 %r4, [%r3+-128];
  st.global.u32 [%to], %r4;
over:)";
        const Report report = words.run(
            kernel(body, ".shared .align 16 .b8 tile[128];\n.shared .b64 barrier;"), options);
        if (!waits) {
          EXPECT_EQ(report.verdict(), Report::Found) << wait << name_of(landing);
          continue;
        }
        ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
        for (unsigned i = 32; i < 64; ++i) EXPECT_EQ(words.to[i], i - 32);
      }
    }
  }
}

}  // namespace
}  // namespace tw::vgpu::ptx
