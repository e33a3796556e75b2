// What the library asks of CUDA's runtime around a launch, and which kernels it takes by the
// device's compute capability: src/library/device_cuda.cpp with a runtime that counts.
#include <gtest/gtest.h>

#include <string>

#include "src/library/described.h"
#include "tests/library/recording_cuda/cuda_runtime.h"
#include "tests/library/stand_in.h"
#include "tilewright.h"
#include "tilewright/family/rms_norm/family.h"
#include "tilewright/family/rotary/family.h"
#include "tilewright/launch/kernel_problem.h"

namespace tw {

std::span<const Instance> rms_norm_instances();
std::span<const Instance> rotary_instances();

namespace tests {
namespace {

// The kernels that a family has, also where none is compiled for a GPU.
template <std::span<const Instance> (*all)()>
std::span<const Instance> launched() {
  static const std::vector<Instance> copies = [] {
    std::vector<Instance> made(all().begin(), all().end());
    for (Instance& instance : made) {
      instance.workspace = [](std::size_t& bytes, const Checked&, const LaunchOptions&) {
        bytes = 0;
        return Status::good();
      };
    }
    return made;
  }();
  return copies;
}
constexpr library::Family norms =
    library::usual_family<RmsNormFamily, launched<rms_norm_instances>>();
constexpr library::Family rotations =
    library::usual_family<RotaryFamily, launched<rotary_instances>>();
const library::Registered registered_norms(norms), registered_rotations(rotations);

// The counts of one call.
struct Asked {
  int allocations, waits, clearings;
  bool operator==(const Asked&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Asked& asked) {
  return to << asked.allocations << " allocations, " << asked.waits << " waits, " << asked.clearings
            << " clearings";
}
constexpr Asked nothing = {0, 0, 0};

class Device : public ::testing::Test {
 protected:
  void SetUp() override {
    stand_in() = {};
    recorded_cuda().captured.clear();
    tw_matmul_init(&problem, &options);
    problem.m = 64;
    problem.n = 40;
    problem.k = 2048;
    // The stand-in for products of fp16 has counters.
    problem.a = {memory, 2048, 1, 0, TW_FP16};
    problem.b = {memory, 1, 2048, 0, TW_FP16};
    problem.d = {output, 40, 1, 0, TW_BF16};
  }
  Asked asked_by_call(void* stream) {
    RecordedCuda& cuda = recorded_cuda();
    cuda.allocations = cuda.waits = cuda.clearings = 0;
    cuda.allocated_bytes = 0;
    EXPECT_EQ(tw_matmul(&problem, &options, room, sizeof room, stream), TW_OK) << tw_message();
    return {cuda.allocations, cuda.waits, cuda.clearings};
  }
  const void* counters() { return stand_in().events.back().counters; }

  alignas(256) static inline unsigned char memory[1 << 20];
  alignas(256) static inline unsigned char output[1 << 20];
  alignas(256) unsigned char room[split_workspace_bytes] = {};
  void* const stream = memory + 128;
  void* const other_stream = memory + 256;
  tw_matmul_problem problem;
  tw_matmul_options options;
};

TEST_F(Device, PlainCallsAllocateNothingAndWaitForNothing) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(asked_by_call(stream), (Asked{0, 0, 1}));  // counters are cleared on the stream
    EXPECT_EQ(counters(), room);
  }
  options.workspace_is_ready = 1;
  EXPECT_EQ(asked_by_call(stream), nothing);
  // A kernel without counters.
  options.workspace_is_ready = 0;
  problem.a.type = problem.b.type = TW_BF16;
  EXPECT_EQ(asked_by_call(stream), nothing);
}

// The first call of each stream of a graph allocates counters and waits until they are zero. When
// the graph is gone, they are the next one's.
TEST_F(Device, CapturedCallsAllocateOnceForEachGraphAndStream) {
  CudaGraph first, second;
  RecordedCuda& cuda = recorded_cuda();
  cuda.captured = {{stream, &first}, {other_stream, &first}};
  EXPECT_EQ(asked_by_call(stream), (Asked{1, 1, 1}));
  EXPECT_EQ(cuda.allocated_bytes, workspace_counter_bytes);
  const void* const of_first = counters();
  EXPECT_NE(of_first, room);
  EXPECT_EQ(asked_by_call(stream), nothing);
  EXPECT_EQ(counters(), of_first);
  EXPECT_EQ(asked_by_call(other_stream), (Asked{1, 1, 1}));
  const void* const of_other_stream = counters();
  EXPECT_NE(of_other_stream, of_first);

  cuda.captured = {{stream, &second}};
  EXPECT_EQ(asked_by_call(stream), (Asked{1, 1, 1}));
  const void* const of_second = counters();
  EXPECT_NE(of_second, of_first);
  EXPECT_NE(of_second, of_other_stream);

  destroy(first);
  CudaGraph third;
  cuda.captured = {{stream, &third}, {other_stream, &third}};
  EXPECT_EQ(asked_by_call(stream), nothing);
  EXPECT_EQ(asked_by_call(other_stream), nothing);
  EXPECT_NE(counters(), of_second);
  EXPECT_EQ(cuda.frees, 0);
  destroy(second);
  destroy(third);
}

TEST_F(Device, CapturedCallsOfAReadyWorkspaceAllocateNothing) {
  CudaGraph graph;
  recorded_cuda().captured = {{stream, &graph}};
  options.workspace_is_ready = 1;
  EXPECT_EQ(asked_by_call(stream), nothing);
  EXPECT_EQ(counters(), room);
  EXPECT_TRUE(graph.objects.empty());
}

// Problems of a sequence share a workspace, and in a graph its counters: one allocation for all.
TEST_F(Device, SequencesAskForWhatOneCallDoes) {
  const void* const problems[] = {&problem, &problem, &problem};
  const auto asked_by_sequence = [&](tw_sequence* sequence) {
    RecordedCuda& cuda = recorded_cuda();
    cuda.allocations = cuda.waits = cuda.clearings = 0;
    EXPECT_EQ(tw_sequence_run(sequence, problems, 3, room, sizeof room, stream), TW_OK)
        << tw_message();
    return Asked{cuda.allocations, cuda.waits, cuda.clearings};
  };
  tw_sequence* sequence = nullptr;
  ASSERT_EQ(tw_sequence_create(&sequence, problems, 3, &options), TW_OK) << tw_message();
  EXPECT_EQ(asked_by_sequence(sequence), (Asked{0, 0, 3}));
  CudaGraph graph;
  recorded_cuda().captured = {{stream, &graph}};
  EXPECT_LE(asked_by_sequence(sequence).allocations, 1);  // none where a graph before is gone
  const auto& events = stand_in().events;
  for (std::size_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(events.at(events.size() - i).counters, counters());
    EXPECT_NE(events.at(events.size() - i).counters, room);
  }
  EXPECT_EQ(asked_by_sequence(sequence), nothing);
  tw_sequence_destroy(sequence);
  options.workspace_is_ready = 1;
  ASSERT_EQ(tw_sequence_create(&sequence, problems, 3, &options), TW_OK) << tw_message();
  EXPECT_EQ(asked_by_sequence(sequence), nothing);
  tw_sequence_destroy(sequence);
  destroy(graph);
}

// The kernel that a plan takes; or the sentence that refuses.
template <class Problem>
std::string taken(const Problem& problem) {
  tw_plan* plan = nullptr;
  if (tw_plan_create(&plan, &problem, nullptr) != TW_OK) return tw_message();
  const std::string line = tw_plan_command(plan);
  tw_plan_destroy(plan);
  const std::size_t begin = line.find("--instance ") + std::string("--instance ").size();
  return line.substr(begin, line.find(' ', begin) - begin);
}

class Capability : public ::testing::Test {
 protected:
  void SetUp() override {
    recorded_cuda().capabilities = {90, 80, 86, 89, 100, 103, 110, 120, 130};
  }
  void TearDown() override { recorded_cuda().device = 0; }
  static void use(int capability) {
    const std::vector<int>& all = recorded_cuda().capabilities;
    recorded_cuda().device =
        static_cast<int>(std::find(all.begin(), all.end(), capability) - all.begin());
  }
  alignas(256) static inline unsigned char memory[1 << 20];
};

TEST_F(Capability, NormsOfRowsAreServedFrom80To103AndAt120) {
  tw_rms_norm_problem problem;
  ASSERT_EQ(tw_init("rms_norm", &problem, sizeof problem, nullptr), TW_OK);
  problem.m = 2;
  problem.weight = memory;
  problem.weight_type = TW_BF16;
  const auto with_columns = [&](int columns) {
    problem.k = columns;
    problem.source = {memory + (1 << 17), columns, 1, 0, TW_BF16};
    problem.output = {memory + (1 << 19), columns, 1, 0, TW_BF16};
    return taken(problem);
  };
  for (const int capability : {80, 86, 89, 120}) {
    use(capability);
    EXPECT_EQ(with_columns(4096), "rms_norm_16384_ampere") << capability;
  }
  use(90);
  EXPECT_EQ(with_columns(4096), "rms_norm_4096");
  EXPECT_EQ(with_columns(8192), "rms_norm_8192");
  EXPECT_EQ(with_columns(16384), "rms_norm_16384");
  for (const int capability : {100, 103}) {
    use(capability);
    EXPECT_EQ(with_columns(4096), "rms_norm_4096_blackwell") << capability;
    EXPECT_EQ(with_columns(8192), "rms_norm_16384_blackwell") << capability;
  }
  for (const int capability : {110, 130}) {
    use(capability);
    EXPECT_EQ(with_columns(4096), "The device has compute capability " +
                                      std::to_string(capability / 10) +
                                      ".0, but kernels are compiled for 8.x, 9.0, 10.0 and 10.3.");
  }
}

TEST_F(Capability, RotaryIsServedFrom80To103AndAt120) {
  tw_rotary_problem problem;
  ASSERT_EQ(tw_init("rotary", &problem, sizeof problem, nullptr), TW_OK);
  problem.tokens = problem.rows = problem.all_positions = 4;
  problem.heads = problem.key_heads = 1;
  problem.head_size = 128;
  problem.qkv = {memory, 384, 1, 0, TW_BF16};
  problem.cosines = {memory + (1 << 14), 64, 1, 0, TW_FP32};
  problem.sines = {memory + (2 << 14), 64, 1, 0, TW_FP32};
  problem.q = {memory + (3 << 14), 128, 1, 0, TW_BF16};
  problem.k = {memory + (4 << 14), 128, 1, 0, TW_BF16};
  problem.v = {memory + (5 << 14), 128, 1, 0, TW_BF16};
  const std::pair<int, const char*> expected[] = {{80, "rotary_cache_ampere"},
                                                  {89, "rotary_cache_ampere"},
                                                  {120, "rotary_cache_ampere"},
                                                  {90, "rotary_cache"},
                                                  {100, "rotary_cache_blackwell"},
                                                  {103, "rotary_cache_blackwell"}};
  for (const auto& [capability, kernel] : expected) {
    use(capability);
    EXPECT_EQ(taken(problem), kernel) << capability;
  }
}

}  // namespace
}  // namespace tests
}  // namespace tw
