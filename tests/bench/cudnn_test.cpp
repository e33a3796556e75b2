// cuDNN makes plans for a GPU that is described to it: what measures beside it is held to the real
// library, where there is one, on any machine.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "src/families/attention_bench_cudnn.h"
#include "src/families/conv2d_bench_cudnn.h"

namespace tw::bench::tests {
namespace {

constexpr const char* h200 = R"({"maxGridSize": [2147483647, 65535, 65535],
  "maxBlockSize": [1024, 1024, 64], "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048,
  "maxCtasPerSM": 32, "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "multiProcessorCount": 132,
  "totalGlobalMem": 150754820096, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000,
  "l2CacheSize": 62914560, "warpSize": 32, "deviceVer": 900, "driverVer": 13000,
  "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1, "cudaDeviceId": 0,
  "deviceName": "NVIDIA H200"})";

tw_conv2d_problem resnet_layer() {
  tw_conv2d_problem shape = {};
  shape.groups = 1;
  shape.n = 32;
  shape.c = shape.k = 64;
  shape.h = shape.w = {
      .extent = 56, .filter = 3, .stride = 1, .dilation = 1, .pad_low = 1, .pad_high = 1};
  return shape;
}

class CudnnPlans : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    target_.functions = cudnn::open(why);
    if (target_.functions == nullptr) GTEST_SKIP() << why;
    const std::string text = h200;
    cudnn::Descriptor properties(*target_.functions, cudnn::Kind::DeviceProperties);
    properties
        .set(cudnn::Attribute::PropertiesText, cudnn::Type::Character, std::span<const char>(text))
        .finalize();
    if (!properties.is_good()) GTEST_SKIP() << "Its version describes devices otherwise.";
    target_.properties = properties;
  }
  std::vector<cudnn::Plan> plans(const tw_conv2d_problem& shape, int most) {
    const cudnn::Descriptor graph = cudnn::graph_of(target_, shape);
    EXPECT_TRUE(graph.is_good()) << graph.error() << " " << target_.last_error();
    return graph.is_good() ? cudnn::plans_of(target_, graph, most, 60) : std::vector<cudnn::Plan>{};
  }
  cudnn::Target target_;
};

TEST_F(CudnnPlans, AreMadeForConvolutions) {
  const auto found = plans(resnet_layer(), 1000);
  ASSERT_GE(found.size(), 3u);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name.find("cudnn:-1"), std::string::npos) << found[i].name;
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(found[i].name, found[j].name);
  }
  EXPECT_EQ(plans(resnet_layer(), 2).size(), 2u);
}

TEST_F(CudnnPlans, AreMadeForTheWholeEpilogue) {
  tw_conv2d_problem shape = resnet_layer();
  shape.epilogue.column_bias = shape.epilogue.source.data = this;
  shape.epilogue.activation = TW_RELU;
  EXPECT_GE(plans(shape, 1000).size(), 3u);
}

TEST_F(CudnnPlans, AreMadeForStridesAndPaddingOfOneSide) {
  tw_conv2d_problem shape = resnet_layer();
  shape.type = TW_FP16;
  shape.h = {.extent = 31, .filter = 5, .stride = 2, .dilation = 2, .pad_low = 3, .pad_high = 3};
  EXPECT_GE(plans(shape, 1000).size(), 1u);
}

TEST_F(CudnnPlans, KnowTheOutputsExtent) {
  // What cuDNN computes for itself must be what we say: else it refuses the operation.
  tw_conv2d_problem shape = resnet_layer();
  for (const std::int64_t extent : {13, 14, 15, 16}) {
    shape.h = {
        .extent = extent, .filter = 3, .stride = 3, .dilation = 2, .pad_low = 1, .pad_high = 2};
    EXPECT_TRUE(cudnn::graph_of(target_, shape).is_good()) << extent << target_.last_error();
  }
}

tw_attention_problem whole_sequences(tw_type type, bool causal, std::int64_t columns) {
  tw_attention_problem problem = {};
  problem.heads = 8;
  problem.key_heads = 2;
  problem.head_size = columns;
  problem.sequences = 2;
  problem.queries = problem.keys = 1024;
  problem.causal = causal;
  const auto by_token = [&](std::int64_t heads) {
    return tw_matrix{&problem, heads * columns, 1, columns, type};
  };
  problem.q = problem.output = by_token(problem.heads);
  problem.k = problem.v = by_token(problem.key_heads);
  return problem;
}

// Why plans for an H200 are not made here; empty: the driver has a device that loads their kernels.
std::string why_no_hopper() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return "There is no driver.";
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto get = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
  const auto ask = reinterpret_cast<int (*)(int*, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
  if (init == nullptr || get == nullptr || ask == nullptr) return "The driver lacks functions.";
  constexpr int capability_major = 75;
  int device = 0, major = 0;
  if (const int code = init(0); code != 0) return "cuInit returned " + std::to_string(code) + ".";
  if (get(&device, 0) != 0) return "The driver has no device.";
  if (ask(&major, capability_major, device) != 0) return "The device does not tell its capability.";
  if (major == 9) return "";
  return "The device has capability " + std::to_string(major) + ".x, but plans are for 9.x.";
}

// Every operation is made and the graph is whole.
TEST_F(CudnnPlans, AttentionIsAGraph) {
  for (const tw_type type : {TW_BF16, TW_FP16, TW_E4M3}) {
    for (const bool causal : {false, true}) {
      for (const std::int64_t columns : {64, 128}) {
        const tw_attention_problem problem = whole_sequences(type, causal, columns);
        EXPECT_TRUE(cudnn::states_attention(problem).is_good());
        const cudnn::Descriptor graph = cudnn::graph_of(target_, problem);
        EXPECT_TRUE(graph.is_good()) << graph.error() << " " << target_.last_error();
      }
    }
  }
}

// Plans of attention are compiled, and loaded by the driver.
TEST_F(CudnnPlans, AreMadeForAttention) {
  if (const std::string why = why_no_hopper(); !why.empty()) GTEST_SKIP() << why;
  for (const tw_type type : {TW_BF16, TW_FP16, TW_E4M3}) {
    for (const bool causal : {false, true}) {
      for (const std::int64_t columns : {64, 128}) {
        const tw_attention_problem problem = whole_sequences(type, causal, columns);
        const cudnn::Descriptor graph = cudnn::graph_of(target_, problem);
        ASSERT_TRUE(graph.is_good()) << graph.error() << " " << target_.last_error();
        EXPECT_FALSE(cudnn::plans_of(target_, graph, 1, 60).empty()) << target_.last_error();
      }
    }
  }
}

TEST_F(CudnnPlans, AttentionWithAnotherMaskIsNotStated) {
  tw_attention_problem problem = whole_sequences(TW_BF16, true, 128);
  problem.queries = 512;
  EXPECT_FALSE(cudnn::states_attention(problem).is_good());
  problem = whole_sequences(TW_BF16, true, 128);
  problem.window = 100;
  EXPECT_FALSE(cudnn::states_attention(problem).is_good());
}

}  // namespace
}  // namespace tw::bench::tests
