// libtilewright on an AMD GPU, by HIP: every family that has kernels there is supported, planned
// and launched. HIP's library is the recording stub; the variable STUB_DEVICE names its GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "src/verify/trials.h"
#include "tests/amd/hip_stub.h"
#include "tilewright.h"

namespace tw::tests {
namespace {

std::vector<StubLaunch> launches;

std::string device() { return std::getenv("STUB_DEVICE"); }

bool is_here(const Instance& instance) { return device().starts_with(instance.target); }
// In a build that compiles some kernels alone, one of these.
bool is_compiled(const Instance& instance) { return instance.launch != nullptr; }

// A usual problem of an instance, in memory of the host, which is the stub's as well.
struct Given {
  Given(const Trial& trial, const Instance& instance)
      : made(usual_case(trial, instance)),
        served(serves(made)),
        memory(made),
        problem(memory.placed()) {
    const Description& description = *trial.description;
    std::vector<std::byte> head(description.size);
    EXPECT_EQ(tw_init(description.name, head.data(), head.size(), &options), TW_OK) << tw_message();
    std::memcpy(problem.data(), head.data(), 16);
    options.instance = instance.name;
  }
  tw_status run() {
    std::size_t bytes = 0;
    if (const tw_status asked = tw_workspace_size(&bytes, problem.data(), &options);
        asked != TW_OK) {
      return asked;
    }
    return tw_run(problem.data(), &options, workspace(bytes), bytes, stream);
  }
  void* workspace(std::size_t bytes) {
    room.resize(bytes + 256);
    const auto beyond = reinterpret_cast<std::uintptr_t>(room.data()) % 256;
    return room.data() + 256 - beyond;
  }

  Case made;
  Status served;
  HostProblem memory;
  AnyProblem problem;
  tw_options options;
  std::vector<std::byte> room;
  void* const stream = this;
};

// Whether an address within a tensor is among a launch's arguments.
bool has_address_in(const StubLaunch& launch, const AlignedBytes& tensor) {
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.data());
  for (std::size_t at = 0; at + 8 <= launch.arguments.size(); at += 8) {
    std::uintptr_t word = 0;
    std::memcpy(&word, launch.arguments.data() + at, sizeof word);
    if (word >= begin && word < begin + tensor.size()) return true;
  }
  return false;
}

void expect_launched(const Given& given, const StubLaunch& launch) {
  EXPECT_NE(launch.function.find(given.made.instance->name), std::string::npos) << launch.function;
  EXPECT_EQ(launch.stream, given.stream);
  EXPECT_GT(launch.ctas, 0u);
  EXPECT_GT(launch.threads, 0u);
  for (std::size_t i = 0; i < given.memory.description().tensors.size(); ++i) {
    const AlignedBytes& bytes = given.memory.tensor(i).bytes;
    if (bytes.empty()) continue;
    EXPECT_TRUE(has_address_in(launch, bytes)) << given.memory.description().tensors[i].title;
  }
}

class AmdLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    void* const stub = dlopen("libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(stub, nullptr) << dlerror();
    *static_cast<StubExecutor*>(dlsym(stub, "stub_executor")) = [](const StubLaunch& launch) {
      launches.push_back(launch);
    };
    launches.clear();
  }
};

TEST_F(AmdLibrary, EveryFamilyIsPlannedAndLaunched) {
  std::vector<std::string> served;
  for (const Trial* trial : all_trials()) {
    const std::string family = trial->description->name;
    for (const Instance& instance : trial->instances()) {
      if (!is_here(instance) || !is_compiled(instance)) continue;
      SCOPED_TRACE(instance.name);
      Given given(*trial, instance);
      ASSERT_TRUE(given.served.is_good()) << given.served.sentence();
      launches.clear();
      EXPECT_EQ(tw_supported(given.problem.data(), &given.options), TW_OK) << tw_message();
      EXPECT_EQ(launches.size(), 0u);
      ASSERT_EQ(given.run(), TW_OK) << tw_message();
      tw_plan* plan = nullptr;
      ASSERT_EQ(tw_plan_create(&plan, given.problem.data(), &given.options), TW_OK) << tw_message();
      const std::size_t bytes = tw_plan_workspace_size(plan);
      EXPECT_NE(std::string(tw_plan_command(plan)).find(" --on gpu"), std::string::npos);
      EXPECT_EQ(
          tw_plan_run(plan, given.problem.data(), given.workspace(bytes), bytes, given.stream),
          TW_OK)
          << tw_message();
      tw_plan_destroy(plan);
      ASSERT_EQ(launches.size(), 2u);
      for (const StubLaunch& launch : launches) expect_launched(given, launch);
      EXPECT_EQ(launches[0].ctas, launches[1].ctas);
      if (served.empty() || served.back() != family) served.push_back(family);
    }
  }
  std::vector<std::string> expected = {
      "attention",   "block_dequantise", "block_quantise", "blockwise", "conv2d",
      "grouped",     "matmul",           "quantise",       "rms_norm",  "rotary",
      "requantised", "block_scaled",     "route",          "combine"};
  std::sort(expected.begin(), expected.end());
  std::sort(served.begin(), served.end());
  EXPECT_EQ(served, expected);
}

// The library's own choice is a kernel of the device.
TEST_F(AmdLibrary, ChoosesKernelsOfTheDevice) {
  int chosen = 0;
  for (const Trial* trial : all_trials()) {
    for (const Instance& instance : trial->instances()) {
      if (!is_here(instance) || !is_compiled(instance)) continue;
      Given given(*trial, instance);
      given.options.instance = nullptr;
      SCOPED_TRACE(instance.name);
      EXPECT_EQ(tw_supported(given.problem.data(), &given.options), TW_OK) << tw_message();
      launches.clear();
      const tw_status status = given.run();
      if (status != TW_OK) {
        EXPECT_EQ(status, TW_CUDA);
        EXPECT_NE(std::string(tw_message()).find("not compiled for a GPU in this build"),
                  std::string::npos)
            << tw_message();
        continue;
      }
      ASSERT_EQ(launches.size(), 1u);
      EXPECT_NE(launches[0].function.find("cdna"), std::string::npos) << launches[0].function;
      ++chosen;
    }
  }
  EXPECT_GT(chosen, 3);
}

const Trial& trial_named(const std::string& name) {
  for (const Trial* trial : all_trials()) {
    if (trial->description->name == name) return *trial;
  }
  throw std::runtime_error("There is no family " + name + ".");
}
const Instance& first_here(const Trial& trial) {
  for (const Instance& instance : trial.instances()) {
    if (is_here(instance) && is_compiled(instance)) return instance;
  }
  throw std::runtime_error("There is no instance.");
}

TEST_F(AmdLibrary, RefusesKernelsOfOtherTargets) {
  const Trial& matmul = trial_named("matmul");
  Given given(matmul, first_here(matmul));
  for (const Instance& instance : matmul.instances()) {
    if (is_here(instance)) continue;
    given.options.instance = instance.name;
    EXPECT_EQ(given.run(), TW_UNSUPPORTED);
    const std::string words = std::string("It is compiled for ") + instance.target + ", not for " +
                              device().substr(0, 6) + ".";
    EXPECT_NE(std::string(tw_message()).find(words), std::string::npos) << tw_message();
  }
  EXPECT_EQ(launches.size(), 0u);
}

TEST_F(AmdLibrary, RefusesBadProblemsAndTellsWhatHipSays) {
  const Trial& matmul = trial_named("matmul");
  Given given(matmul, first_here(matmul));
  auto& problem = given.problem.as<tw_matmul_problem>();
  problem.m = -1;
  EXPECT_EQ(given.run(), TW_INVALID);
  EXPECT_NE(std::string(tw_message()).find("-1"), std::string::npos) << tw_message();
  problem.m = given.made.as<tw_matmul_problem>().m;
  EXPECT_EQ(launches.size(), 0u);
  // The stub's launches fail where its emulator does.
  setenv("TW_AMD_EMULATOR", "false", 1);
  EXPECT_EQ(given.run(), TW_CUDA);
  EXPECT_STREQ(tw_message(), "The launch failed: the emulator failed.");
  unsetenv("TW_AMD_EMULATOR");
  EXPECT_EQ(given.run(), TW_OK) << tw_message();
}

// Counters in the workspace are cleared on the stream, unless the caller says that they are ready.
TEST_F(AmdLibrary, ClearsCounters) {
  if (!device().starts_with("gfx950")) GTEST_SKIP() << "gfx950 alone has kernels with counters.";
  const Trial& matmul = trial_named("matmul");
  const auto all = matmul.instances();
  const auto split = std::find_if(all.begin(), all.end(), [](const Instance& instance) {
    return std::string(instance.name) == "cdna4_split";
  });
  ASSERT_NE(split, all.end());
  Given given(matmul, *split);
  auto& problem = given.problem.as<tw_matmul_problem>();
  int& clearings =
      *static_cast<int*>(dlsym(dlopen("libamdhip64.so", RTLD_NOW | RTLD_LOCAL), "stub_clearings"));
  clearings = 0;
  EXPECT_EQ(tw_run(&problem, &given.options, nullptr, 0, nullptr), TW_WORKSPACE) << tw_message();
  EXPECT_EQ(given.run(), TW_OK) << tw_message();
  EXPECT_EQ(clearings, 1);
  given.options.workspace_is_ready = 1;
  EXPECT_EQ(given.run(), TW_OK) << tw_message();
  EXPECT_EQ(clearings, 1);
  EXPECT_EQ(launches.size(), 2u);
}

// What a GPU without kernels here gets: a process of its own has it.
TEST(AmdLibraryElsewhere, RefusesUnknownDevices) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // from the program's beginning
  const Trial& norms = trial_named("rms_norm");
  EXPECT_EXIT(
      {
        setenv("STUB_DEVICE", "gfx90a:sramecc+", 1);
        Given given(norms, norms.instances()[0]);
        std::exit(
            given.run() == TW_UNSUPPORTED &&
                    std::string(tw_message()) ==
                        "The device is gfx90a, but kernels are compiled for gfx942 and gfx950."
                ? 0
                : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("STUB_DEVICE", "none", 1);
        Given given(norms, norms.instances()[0]);
        std::exit(given.run() == TW_CUDA ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tw::tests
