// A record as a kernel writes it becomes a timeline: roles, waits by cause, stages that are read.
#include "src/cli/gpu_timeline.h"

#include <gtest/gtest.h>

#include "src/cli/timeline.h"

namespace tw::cli {
namespace {

// Two groups that share every stage of a ring of two, in one CTA; another CTA that does nothing.
TEST(GpuTimeline, NamesWhatATrackIs) {
  Structure structure;
  structure.roles.add({Role::Load, 0, 1, 1, 24, true});
  structure.roles.add({Role::Multiply, 4, 8, 2, 240, false});
  structure.flows.add({"input", 1, 2, 1024});
  GpuTrace trace;
  trace.capacity = 2;
  trace.tracks = 5;
  trace.events.resize(2 * 5 * trace.capacity);
  trace.counts = {3, 2, 2, 1, 0, 0, 0, 0, 0, 0};
  const auto at = [&](unsigned track, unsigned i) -> TraceEvent& {
    return trace.events[track * trace.capacity + i];
  };
  at(0, 0) = {1000, 1000, 1010, 0};
  at(0, 1) = {1010, 1030, 1040, 1};
  at(1, 0) = {1000, 1050, 1100, 0};
  at(1, 1) = {1100, 1110, 1200, 1};
  at(2, 0) = {1000, 1060, 1120, 0};
  at(2, 1) = {1120, 1120, 1180, 1};
  at(3, 0) = {1200, 1200, 1290, 0};
  EXPECT_EQ(trace.lost(), 1u);
  const vgpu::Timeline timeline = timeline_of(trace, structure);
  ASSERT_EQ(timeline.tracks.size(), 4u);
  EXPECT_EQ(timeline.tracks[0].role, "load");
  EXPECT_EQ(timeline.tracks[2].role, "multiply 1");
  EXPECT_EQ(timeline.tracks[3].role, "store 0");
  EXPECT_EQ(timeline.tracks[1].end, 200'000u);
  EXPECT_EQ(timeline.tracks[0].waits[1].on, "input.empty");
  EXPECT_EQ(timeline.tracks[0].waits[1].end, 30'000u);
  EXPECT_EQ(timeline.tracks[1].waits[0].on, "input.full");
  const std::vector<FullStage> full = full_stages(timeline);
  ASSERT_EQ(full.size(), 2u);  // both groups at once
  EXPECT_EQ(full[0].begin, 50'000u);
  EXPECT_EQ(full[0].end, 120'000u);
  EXPECT_EQ(full[1].begin, 110'000u);
  EXPECT_EQ(full[1].end, 200'000u);
  const std::vector<Occupancy> rings = occupancies_of(timeline);
  ASSERT_EQ(rings.size(), 1u);
  EXPECT_EQ(rings[0].stages, 2u);
  EXPECT_NEAR(rings[0].mean, 160.0 / 290, 1e-9);
  const RecordedRun run = {"a product", "a GPU", false, timeline};
  // Storing waits for nobody, but lasts less than half as long as multiplying.
  EXPECT_EQ(bottleneck(run),
            "The multiply 0 role waits least for others (30 % of its time): nobody sets the pace, "
            "but what is on its way.");
}

}  // namespace
}  // namespace tw::cli
