// Copies of plain bytes, copies that reduce, full waits for groups, and barriers that reduce.
#include "tests/ptx/words.h"
#include "vgpu/data/tile_map.h"

namespace tw::vgpu::ptx {
namespace {

constexpr const char* tile = ".shared .align 128 .b8 tile[256];\n.shared .b64 barrier;";

std::string replaced(std::string text, const std::string& words, const std::string& by) {
  const std::size_t at = text.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  return text.replace(at, words.size(), by);
}
// Thread 0 brings 256 bytes, and all read them backwards.
constexpr const char* loading = R"(
  setp.ne.u32 %p0, %t, 0;
  mov.u32 %r1, tile;
  @%p0 bra begun;
  mbarrier.init.shared.b64 [barrier], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [barrier], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%from], 256, [barrier];
begun:
  bar.sync 0;
wait:
  mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;
  @!%p1 bra wait;
  shl.b32 %r2, %t, 2;
  sub.s32 %r3, %r1, %r2;
  ld.shared.u32 %r4, [%r3+252];
  st.global.u32 [%to], %r4;)";

constexpr const char* waiting =
    "  mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;\n  @!%p1 bra wait;\n";

TEST(PtxBulk, PlainBytesComeWithAnMbarrier) {
  for (const Landing landing : all_landings) {
    Options options;
    options.landing = landing;
    Words words;
    const Report report = words.run(kernel(loading, tile), options);
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], 63 - i);
    const Report unwaited = Words().run(kernel(replaced(loading, waiting, ""), tile), options);
    EXPECT_TRUE(finds(unwaited, "read-before-full")) << text_of(unwaited);
  }
}

TEST(PtxBulk, WrongBytesAndAddressesAreFound) {
  const auto with = [&](const char* bytes) {
    return kernel(replaced(loading, "[%from], 256", bytes), tile);
  };
  EXPECT_TRUE(finds(Words().run(with("[%from], 240")), "deadlock"));
  const Report report = Words().run(with("[%from], 250"));
  EXPECT_TRUE(finds(report, "alignment")) << text_of(report);
}

// Threads write 256 bytes to shared memory; thread 0 goes on.
const std::string filling = R"(
  setp.ne.u32 %p0, %t, 0;
  mov.u32 %r1, tile;
  shl.b32 %r2, %t, 2;
  add.s32 %r3, %r1, %r2;
  ld.global.u32 %r0, [%from];
  st.shared.u32 [%r3], %r0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p0 bra over;
  )";

// Thread 0 sends them, and reads back what a full wait has brought.
std::string storing(const std::string& copy, const std::string& wait) {
  return filling + copy +
         R"(
  cp.async.bulk.commit_group;
  )" + wait +
         R"(
  ld.global.u32 %r5, [%to+8];
  add.u32 %r5, %r5, 1000;
  st.global.u32 [%to+8], %r5;
over:)";
}
constexpr const char* bulk_store = "cp.async.bulk.global.shared::cta.bulk_group [%to], [%r1], 256;";

TEST(PtxBulk, StoresAreReadBackBehindAFullWait) {
  for (const Landing landing : all_landings) {
    Options options;
    options.landing = landing;
    Words words;
    const Report report =
        words.run(kernel(storing(bulk_store, "cp.async.bulk.wait_group 0;"), tile), options);
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], i + (i == 2 ? 1000 : 0));
    // That the source was read says nothing about what was written.
    const Report read_only =
        Words().run(kernel(storing(bulk_store, "cp.async.bulk.wait_group.read 0;"), tile), options);
    EXPECT_TRUE(finds(read_only, "global-race") || finds(read_only, "uninitialised"))
        << name_of(landing) << text_of(read_only);
  }
}

struct Reduced {
  const char* end;
  unsigned (*of)(unsigned known, unsigned value);
};
TEST(PtxBulk, CopiesThatReduce) {
  const Reduced cases[] = {
      {".add.u32", [](unsigned known, unsigned value) { return known + value; }},
      {".min.s32", [](unsigned known, unsigned value) { return std::min(known, value); }},
      {".max.u32", [](unsigned known, unsigned value) { return std::max(known, value); }},
      {".xor.b32", [](unsigned known, unsigned value) { return known ^ value; }},
      {".inc.u32", [](unsigned known, unsigned value) { return known >= value ? 0 : known + 1; }}};
  for (const Reduced& one : cases) {
    Words words;
    words.to_is_read = true;
    words.ctas = 3;  // reductions of several CTAs need no order
    for (unsigned i = 0; i < 64; ++i) words.to[i] = 17 * i % 50;
    const std::vector<std::uint32_t> before = words.to;
    const Report report =
        words.run(kernel(filling + "cp.reduce.async.bulk.global.shared::cta.bulk_group" +
                             std::string(one.end) + R"( [%to], [%r1], 256;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
over:)",
                         tile));
    ASSERT_EQ(report.verdict(), Report::Clean) << one.end << text_of(report);
    for (unsigned i = 0; i < 64; ++i) {
      unsigned wanted = before[i];
      for (unsigned cta = 0; cta < 3; ++cta) wanted = one.of(wanted, i);
      EXPECT_EQ(words.to[i], wanted) << one.end << i;
    }
  }
}

// A plain store beside reductions is a race.
TEST(PtxBulk, AReductionAndAStoreRace) {
  Words words;
  words.to_is_read = true;
  words.ctas = 2;
  const Report report = words.run(kernel(R"(
  setp.ne.u32 %p0, %t, 0;
  mov.u32 %r1, tile;
  shl.b32 %r2, %t, 2;
  add.s32 %r3, %r1, %r2;
  st.shared.u32 [%r3], 1;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p0 bra over;
  mov.u32 %r4, %ctaid.x;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra stores;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%to], [%r1], 256;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  bra.uni over;
stores:
  st.global.u32 [%to], 99;
over:)",
                                         tile));
  EXPECT_TRUE(finds(report, "global-race")) << text_of(report);
  EXPECT_TRUE(says(report, "The other access is at line ")) << text_of(report);
}

// The CTA of rank 0 sends its tile to rank 1.
constexpr const char* sending = R"(
  setp.ne.u32 %p0, %t, 0;
  mov.u32 %r1, tile;
  mov.u32 %r2, %cluster_ctarank;
  shl.b32 %r3, %t, 2;
  add.s32 %r4, %r1, %r3;
  st.shared.u32 [%r4], %t;
  @%p0 bra begun;
  mbarrier.init.shared.b64 [barrier], 1;
  fence.mbarrier_init.release.cluster;
begun:
  fence.proxy.async.shared::cta;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  setp.eq.u32 %p2, %r2, 1;
  @%p2 bra takes;
  @%p0 bra over;
  mapa.shared::cluster.u32 %r5, %r1, 1;
  mov.u32 %r6, barrier;
  mapa.shared::cluster.u32 %r7, %r6, 1;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r1], 256, [%r7];
  bra.uni over;
takes:
  @%p0 bra wait;
  mbarrier.arrive.expect_tx.shared.b64 _, [barrier], 256;
wait:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [barrier], 0;
  @!%p1 bra wait;
  ld.shared.u32 %r10, [%r4];
  st.global.u32 [%to], %r10;
over:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;)";
constexpr const char* taking =
    "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [barrier], 0;\n"
    "  @!%p1 bra wait;\n";

TEST(PtxBulk, FromOneCtaToAnother) {
  const std::string adding =
      replaced(replaced(sending, "cp.async.bulk.sh", "cp.reduce.async.bulk.sh"),
               "complete_tx::bytes [", "complete_tx::bytes.add.u32 [");
  for (const Landing landing : all_landings) {
    Options options;
    options.landing = landing;
    for (const bool adds : {false, true}) {
      Words words;
      words.ctas = words.cluster = 2;
      const Report report = words.run(kernel(adds ? adding : sending, tile), options);
      ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
      for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], adds ? 2 * i : i);
    }
    Words words;
    words.ctas = words.cluster = 2;
    const Report report = words.run(kernel(replaced(sending, taking, ""), tile), options);
    EXPECT_TRUE(finds(report, "read-before-full") || finds(report, "overwrite-while-read"))
        << name_of(landing) << text_of(report);
  }
}

// A tensor of 4-bit elements that are packed in both memories, and one that reduces.
TEST(PtxBulk, MapsOfNibblesAndReductionsOfTensors) {
  Words words;
  words.to_is_read = true;
  for (unsigned i = 0; i < 64; ++i) words.to[i] = 1000 * i;
  TileMap nibbles;
  nibbles.base = words.from.data();
  nibbles.element_bytes = 1;
  nibbles.rank = 2;
  nibbles.extents[0] = 64;  // bytes: 128 elements
  nibbles.extents[1] = 4;
  nibbles.pitch_bytes[0] = 64;
  nibbles.box[0] = 32;
  nibbles.box[1] = 4;
  nibbles.nibbles = true;
  TileMap sums;
  sums.base = words.to.data();
  sums.element_bytes = 4;
  sums.rank = 1;
  sums.extents[0] = 30;  // what lies behind is not touched
  sums.box[0] = 32;
  sums.number = MapNumber::Signed;
  const std::string text = R"(
.visible .entry k(.param .align 64 .b8 nibbles[128], .param .align 64 .b8 sums[128])
{
  .reg .b64 %x<4>; .reg .b32 %t, %r<4>; .reg .pred %p<3>;
  mov.u32 %t, %tid.x;
  mov.u32 %r1, tile;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra over;
  mbarrier.init.shared.b64 [barrier], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [barrier], 128;
  mov.b64 %x0, nibbles;
  cvta.param.u64 %x1, %x0;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
    [%r1], [%x1, {64, 0}], [barrier];
wait:
  mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;
  @!%p1 bra wait;
  mov.b64 %x2, sums;
  cvta.param.u64 %x3, %x2;
  cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%x3, {0}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
over:
  ret;
}
)";
  const GlobalRange memory[] = {{words.from.data(), 256, "from", true, false},
                                {words.to.data(), 256, "to", true, true}};
  const TensorMap first = encode(nibbles), second = encode(sums);
  std::vector<std::byte> bytes(256);
  std::memcpy(bytes.data(), &first, 128);
  std::memcpy(bytes.data() + 128, &second, 128);
  struct Both {
    std::byte bytes[256];
  } both;
  std::memcpy(both.bytes, bytes.data(), 256);
  Parameters parameters;
  parameters.add(both);
  Request request;
  request.block.x = 32;
  const Report report = run_text(std::string(tile) + text, request, parameters, memory);
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  // Four rows of 32 bytes: words 8 to 15 of each row of 16.
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned added = i < 30 ? i / 8 * 16 + 8 + i % 8 : 0;
    EXPECT_EQ(words.to[i], 1000 * i + added) << i;
  }
}

TEST(PtxBulk, BarriersThatReduce) {
  Words words;
  const std::string body = R"(
  ld.global.u32 %r0, [%from];
  setp.ge.u32 %p0, %r0, 40;
  bar.red.popc.u32 %r1, 0, %p0;
  barrier.cta.red.popc.aligned.u32 %r2, 1, 64, !%p0;
  bar.red.and.pred %p1, 0, %p0;
  setp.lt.u32 %p0, %r0, 64;
  bar.cta.red.and.pred %p2, 0, %p0;
  bar.red.or.pred %p3, 0, 64, !%p0;
  selp.u32 %r3, 1000, 0, %p1;
  selp.u32 %r4, 2000, 0, %p2;
  selp.u32 %r5, 4000, 0, %p3;
  mad.lo.u32 %r1, %r2, 100, %r1;
  add.u32 %r1, %r1, %r3;
  add.u32 %r1, %r1, %r4;
  add.u32 %r1, %r1, %r5;
  st.global.u32 [%to], %r1;)";
  const Report report = words.run(kernel(body));
  ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(words.to[i], 24 + 4000 + 2000);
  const Report mixed = Words().run(kernel(R"(
  setp.ge.u32 %p0, %t, 32;
  @%p0 bra others;
  bar.red.popc.u32 %r1, 0, %p0;
  bra.uni over;
others:
  bar.sync 0;
over:)"));
  EXPECT_TRUE(finds(mixed, "divergence")) << text_of(mixed);
}

}  // namespace
}  // namespace tw::vgpu::ptx
