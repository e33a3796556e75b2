// Kernels are launched by HIP as their plans say. The stub's GPU is the virtual one: what was
// loaded, planned, copied and passed on must compute the right result there.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "src/families/quantise.h"
#include "src/verify/on_gpu.h"
#include "tests/amd/hip_stub.h"
#include "tests/families/seed.h"
#include "tilewright/arch/gfx942.h"
#include "tilewright/family/quantise/launch.h"
#include "vgpu/machine/machine.h"

namespace tw::tests {
namespace {

struct Rows {
  static constexpr QuantiseConfig config = {.scale_rows = 1};
};
using Kernel = kernel::Streaming<Quantise<Gfx942, Rows>>;

int launches = 0;

void execute(const StubLaunch& launch) {
  ++launches;
  EXPECT_NE(launch.function.find("quantise_rows_cdna3"), std::string::npos) << launch.function;
  EXPECT_EQ(launch.threads, Kernel::threads);
  EXPECT_EQ(launch.shared_bytes, sizeof(Kernel::Storage));
  Kernel::Params params;
  ASSERT_EQ(launch.arguments.size(), sizeof params);
  std::memcpy(&params, launch.arguments.data(), sizeof params);
  std::vector<vgpu::GlobalRange> memory;
  for (const auto& range : launch.allocated) memory.push_back({range.begin, range.bytes, "memory"});
  const vgpu::Launch same = {
      launch.ctas, 1, launch.threads, launch.shared_bytes, [&params] { Kernel::run(params); }, 64};
  const vgpu::Report report = vgpu::run(same, memory, {});
  EXPECT_EQ(report.verdict(), vgpu::Report::Clean);
}

TEST(Hip, LaunchesWhatWasPlanned) {
  void* const stub = dlopen("libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(stub, nullptr) << dlerror();
  *static_cast<StubExecutor*>(dlsym(stub, "stub_executor")) = execute;
  Random random(base_seed());
  SCOPED_TRACE(testing::Message() << "TW_SEED=" << base_seed());
  int tried = 0;
  for (const Instance& instance : quantise_instances()) {
    if (std::string_view(instance.name) != "quantise_rows_cdna3") continue;
    ASSERT_EQ(why_not_on_gpu(instance), "");
    EXPECT_EQ(gpu_name(instance), "a stub");
    for (; tried < 5; ++tried) {
      const Case made = random_case(quantise_trial, instance, random);
      const Result<Comparison> ran = run_on_gpu(Verified(made));
      ASSERT_TRUE(ran.status.is_good()) << ran.status.sentence();
      EXPECT_EQ(ran.value->complaint(), "") << run_line(made);
    }
  }
  EXPECT_EQ(tried, 5);
  EXPECT_GT(launches, 0);
}

// Kernels of another target, and of NVIDIA's, are not the stub's to run.
TEST(Hip, RefusesOtherTargets) {
  for (const Instance& instance : quantise_instances()) {
    const std::string why = why_not_on_gpu(instance);
    if (std::string_view(instance.target) == target::gfx942.name) continue;
    EXPECT_NE(why, "");
    if (std::string_view(instance.name) == "quantise_blocks_cdna4") {
      EXPECT_EQ(why, "The GPU is gfx942; the instance quantise_blocks_cdna4 is for gfx950.");
    }
  }
}

}  // namespace
}  // namespace tw::tests
