// Kernels of families with configurations of their own, compiled with tracing: what they record on
// the virtual GPU is what the problem makes them wait for. On a GPU, ./tw trace --on gpu compiles
// them so.
#include <gtest/gtest.h>

#include <map>

#include "src/cli/gpu_timeline.h"
#include "src/families/attention.h"
#include "src/families/block_quantise.h"
#include "src/families/blockwise.h"
#include "src/families/matmul.h"
#include "src/families/quantise.h"
#include "src/instances/make_instance.h"
#include "src/verify/product.h"
#include "src/verify/trace_room.h"
#include "tilewright/arch/sm100.h"
#include "tilewright/arch/sm90.h"
#include "tilewright/family/attention/launch.h"
#include "tilewright/family/attention/sm90.h"
#include "tilewright/family/block_quantise/launch.h"
#include "tilewright/family/blockwise/launch.h"
#include "tilewright/family/matmul/launch.h"
#include "tilewright/family/quantise/launch.h"

namespace tw::cli {
namespace {

struct Rows {
  static constexpr QuantiseConfig config = {.scale_rows = 1, .tracing = Tracing::On};
};
struct ToMxfp8 {
  static constexpr BlockQuantiseConfig config = {
      .element_type = ElementType::E4m3, .scale_type = ScaleType::Ue8m0, .tracing = Tracing::On};
};
struct Products {
  static constexpr MatmulConfig config = {.tiling = {.m = 64, .n = 64},
                                          .multiply_groups = 1,
                                          .scheduling = Scheduling::Dynamic,
                                          .c_stages = 2,
                                          .tracing = Tracing::On};
};
struct Scaled {
  static constexpr BlockwiseConfig config = {
      .tiling = {.n = 64, .a_type = ElementType::E4m3, .b_type = ElementType::E4m3},
      .multiply_groups = 1,
      .promote_every = 1,
      .scheduling = Scheduling::Dynamic,
      .tracing = Tracing::On};
};
struct Paired {
  static constexpr BlockwiseConfig config = {.tiling = {.a_type = ElementType::E4m3,
                                                        .b_type = ElementType::E4m3,
                                                        .cluster = {2, 1},
                                                        .group = 2},
                                             .multiply_groups = 1,
                                             .promote_every = 1,
                                             .scheduling = Scheduling::Dynamic,
                                             .tracing = Tracing::On};
};
struct Heads {
  static constexpr AttentionConfig config = {
      .tiling = {.m = 128, .n = 64}, .keys = 64, .tracing = Tracing::On};
};

// What two SMs record.
vgpu::Timeline recorded(const Case& made) {
  GpuTrace trace;
  trace.capacity = 64;
  trace.tracks = tracks_of(made);
  trace.counts.resize(TraceRoom::most_ctas(trace.tracks) * trace.tracks);
  trace.events.resize(trace.counts.size() * trace.capacity);
  const Verified verified(made);
  HostProblem data = verified.given();
  const AnyProblem problem = data.placed();
  Checked checked;
  EXPECT_TRUE(check(checked, *made.trial->description, problem.data()).is_good());
  vgpu::Options options;
  options.sm_count = 2;
  vgpu::Report report;
  const TraceBuffer buffer = {trace.events.data(), trace.counts.data(), trace.capacity,
                              static_cast<std::uint32_t>(trace.counts.size())};
  const Status status = made.instance->simulate(checked, {made.order, {}, buffer}, options, report);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  EXPECT_EQ(report.verdict(), vgpu::Report::Clean);
  EXPECT_TRUE(verified.compare(data).good());
  EXPECT_EQ(trace.lost(), 0u);
  return timeline_of(trace, *structure_named(made.instance->name));
}

std::map<std::string, int> waits_of(const vgpu::Timeline::Track& track) {
  std::map<std::string, int> counts;
  for (const vgpu::Timeline::Wait& wait : track.waits) ++counts[wait.on];
  return counts;
}

// 3 by 3 tiles of 64 by 128, and 2 by 3 of 128 by 128: each CTA streams every second one.
TEST(Traced, AStreamRecordsItsTiles) {
  const Instance rows = streaming_instance<QuantiseLaunch, Quantise<Sm90, Rows>>("rows");
  const Instance mxfp8 =
      streaming_instance<BlockQuantiseLaunch, BlockQuantise<Sm90, ToMxfp8>>("to_mxfp8_traced");
  Case first = usual_case(quantise_trial, rows), second = usual_case(block_quantise_trial, mxfp8);
  first.as<tw_quantise_problem>().m = second.as<tw_block_quantise_problem>().m = 160;
  first.as<tw_quantise_problem>().k = second.as<tw_block_quantise_problem>().k = 288;
  for (const auto& [made, tiles] : {std::pair(first, 9u), std::pair(second, 6u)}) {
    const vgpu::Timeline timeline = recorded(made);
    ASSERT_EQ(timeline.tracks.size(), 2u) << made.instance->name;
    std::size_t recorded = 0;
    for (const vgpu::Timeline::Track& track : timeline.tracks) {
      EXPECT_EQ(track.role, "stream");
      EXPECT_LT(track.begin, track.end);
      EXPECT_TRUE(track.waits.empty());
    }
    for (const vgpu::Timeline::Phase& phase : timeline.phases) {
      recorded += phase.barrier == "tile.full" ? 1 : 0;
    }
    EXPECT_EQ(recorded, tiles) << made.instance->name;
  }
}

// One tile of 128 queries and four blocks of 64 keys.
TEST(Traced, AttentionRecordsEachOfItsRings) {
  const Instance heads =
      warp_specialized_instance<AttentionLaunch, Attention<Sm90Attention, Heads>>("heads");
  Case made = usual_case(attention_trial, heads);
  auto& problem = made.as<tw_attention_problem>();
  problem.heads = problem.key_heads = 1;
  made.lists[AttentionFamily::query_lengths] = {128};
  made.lists[AttentionFamily::key_lengths] = {200};
  const Status status = serves(made);
  ASSERT_TRUE(status.is_good()) << status.sentence();
  const vgpu::Timeline timeline = recorded(made);
  ASSERT_EQ(timeline.tracks.size(), 5u);
  using Waits = std::map<std::string, int>;
  const Waits loads = {{"queries.empty", 1}, {"keys.empty", 4}, {"values.empty", 4}};
  const Waits multiplies = {{"queries.full", 1}, {"keys.full", 4}, {"values.full", 4}};
  const std::pair<const char*, Waits> expected[] = {{"load", loads},
                                                    {"multiply 0", multiplies},
                                                    {"multiply 1", multiplies},
                                                    {"store 0", {{"output buffer", 1}}},
                                                    {"store 1", {{"output buffer", 1}}}};
  for (const auto& [role, waits] : expected) {
    for (const vgpu::Timeline::Track& track : timeline.tracks) {
      if (track.role != role) continue;
      EXPECT_EQ(waits_of(track), waits) << role;
    }
  }
}

// The waits of a role, in all CTAs.
std::map<std::string, int> waits_of(const vgpu::Timeline& timeline, const std::string& role) {
  std::map<std::string, int> counts;
  for (const vgpu::Timeline::Track& track : timeline.tracks) {
    if (track.role != role) continue;
    EXPECT_LT(track.begin, track.end) << role;
    for (const auto& [on, times] : waits_of(track)) counts[on] += times;
  }
  return counts;
}

// Four tiles of two k-tiles, one chunk of C each: who asks for work, brings C and brings scales has
// a track like the others. Work is asked for behind each tile.
TEST(Traced, AskingAndBringingAreRecorded) {
  using Waits = std::map<std::string, int>;
  const Instance hopper = warp_specialized_instance<MatmulLaunch, Matmul<Sm90, Products>>("hopper");
  Case first = usual_case(matmul_trial, hopper);
  auto& product = first.as<tw_matmul_problem>();
  product.m = product.n = product.k = 128;
  EpilogueShape with_c;
  with_c.beta = 1;
  set_epilogue(product.epilogue, with_c);
  const vgpu::Timeline brought = recorded(first);
  EXPECT_EQ(waits_of(brought, "load"), (Waits{{"input.empty", 8}}));
  EXPECT_EQ(waits_of(brought, "source"), (Waits{{"source.empty", 4}}));
  EXPECT_EQ(waits_of(brought, "schedule"), (Waits{{"work.began", 4}}));

  const Instance blackwell =
      warp_specialized_instance<BlockwiseLaunch, Blockwise<Sm100, ScaledBy<128>, Scaled>>("scaled");
  Case second = usual_case(blockwise_trial, blackwell);
  auto& scaled = second.as<tw_blockwise_problem>().matmul;
  scaled.m = 256;
  scaled.n = 128;
  scaled.k = 256;
  const vgpu::Timeline asked = recorded(second);
  EXPECT_EQ(waits_of(asked, "load"), (Waits{{"input.empty", 8}}));
  EXPECT_EQ(waits_of(asked, "load scales"), (Waits{{"input.empty", 8}}));
  EXPECT_EQ(waits_of(asked, "schedule"), (Waits{{"work.began", 4}}));
  EXPECT_EQ(waits_of(asked, "store 0"), (Waits{{"output buffer", 4}}));
}

// One tile of a pair: each CTA has two groups that store, and a ring of scales.
TEST(Traced, GroupsThatStoreHaveTracksOfTheirOwn) {
  const Instance pair =
      warp_specialized_instance<BlockwiseLaunch,
                                Blockwise<Sm100Promoting, ScaledApart<128>, Paired>>("paired");
  Case made = usual_case(blockwise_trial, pair);
  auto& product = made.as<tw_blockwise_problem>().matmul;
  product.m = product.n = 256;
  product.k = 256;
  const vgpu::Timeline timeline = recorded(made);
  using Waits = std::map<std::string, int>;
  EXPECT_EQ(waits_of(timeline, "load"), (Waits{{"input.empty", 4}}));
  EXPECT_EQ(waits_of(timeline, "load scales"), (Waits{{"scales.empty", 4}}));
  // Rows of 64 bytes: a group stores its 128 columns by four buffers.
  const Waits stores = {{"output buffer", 8}};
  EXPECT_EQ(waits_of(timeline, "store 0"), stores);
  EXPECT_EQ(waits_of(timeline, "store 1"), stores);
}

}  // namespace
}  // namespace tw::cli
