// Which launches into a graph take a programmatic edge: launch/cuda.h with a runtime that records
// what it is told, and fails where a test says so.
#include <gtest/gtest.h>

#include "tilewright/launch/cuda.h"

namespace {

// A captured stream: the node that the next launch follows, and what the last launch asked for.
struct RecordedStream {
  bool is_captured = true;
  unsigned long long capture = 1;
  cudaGraphNode_t node = nullptr;
  bool fails = false;
  bool took_edge = false;
  std::size_t nodes = 0;  // made so far
};
RecordedStream recorded;

cudaGraphNode_t node_of(std::size_t number) {
  return reinterpret_cast<cudaGraphNode_t>(0x1000 + 0x10 * number);
}
// A kernel of somebody else follows in the stream.
void launch_foreign() { recorded.node = node_of(++recorded.nodes); }

}  // namespace

extern "C" {
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = recorded.is_captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status,
                                     unsigned long long* capture, cudaGraph_t*,
                                     const cudaGraphNode_t** nodes, const cudaGraphEdgeData**,
                                     std::size_t* count) {
  *status = cudaStreamCaptureStatusActive;
  *capture = recorded.capture;
  *nodes = &recorded.node;
  *count = recorded.node == nullptr ? 0 : 1;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*, void**) {
  recorded.took_edge = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    recorded.took_edge |= config->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization;
  }
  if (recorded.fails) return cudaErrorLaunchOutOfResources;
  recorded.node = node_of(++recorded.nodes);
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "as the test asked"; }
}

namespace tw {
namespace {

class Captured : public ::testing::Test {
 protected:
  void SetUp() override {
    recorded = {};
    CapturedNode::last_of_thread() = {};
  }
  // Whether the launch took a programmatic edge.
  bool launch() {
    const int params = 0;
    EXPECT_EQ(kernel.launch(params, 1, nullptr).is_good(), !recorded.fails);
    return recorded.took_edge;
  }
  static constexpr KernelNeeds needs = [] {
    KernelNeeds made{};
    made.threads = 32;
    made.dependent_launch = true;
    return made;
  }();
  CudaKernel kernel{&needs, needs};
};

TEST_F(Captured, OnlyBehindALaunchOfOurs) {
  EXPECT_FALSE(launch());
  EXPECT_TRUE(launch());
  launch_foreign();
  EXPECT_FALSE(launch());
  EXPECT_TRUE(launch());
  recorded.capture = 2;  // another graph, whose last node may have the same address
  EXPECT_FALSE(launch());
  EXPECT_TRUE(launch());
}

// What failed left no node: the stream goes on behind the foreign kernel.
TEST_F(Captured, NotBehindALaunchThatFailed) {
  EXPECT_FALSE(launch());
  launch_foreign();
  recorded.fails = true;
  EXPECT_FALSE(launch());
  recorded.fails = false;
  EXPECT_FALSE(launch());
  EXPECT_TRUE(launch());
}

// In a plain stream the attribute gains, whoever came before.
TEST_F(Captured, AlwaysInAPlainStream) {
  recorded.is_captured = false;
  EXPECT_TRUE(launch());
  EXPECT_TRUE(launch());
}

}  // namespace
}  // namespace tw
