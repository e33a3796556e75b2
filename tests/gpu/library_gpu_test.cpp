// libtilewright on the real GPU. Skipped, visibly, where there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "src/verify/gpu.h"
#include "tests/families/problems.h"
#include "tests/library/device_data.h"

namespace tw::tests {
namespace {

constexpr std::size_t room = std::size_t{256} << 20;  // the usual workspace_limit

class LibraryOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    tw_matmul_init(nullptr, &options);
  }
  tw_matmul_options options;
};

class Stream {
 public:
  Stream() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_;
};

class Graph {
 public:
  // What `calls` enqueues on `stream`, which runs only when launched.
  Graph(cudaStream_t stream, const std::function<void()>& calls) {
    cudaGraph_t graph;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    calls();
    must(cudaStreamEndCapture(stream, &graph));
    must(cudaGraphInstantiate(&graph_, graph, 0));
    must(cudaGraphDestroy(graph));
  }
  ~Graph() { cudaGraphExecDestroy(graph_); }
  Graph(const Graph&) = delete;
  void launch(cudaStream_t stream) const { must(cudaGraphLaunch(graph_, stream)); }

 private:
  cudaGraphExec_t graph_;
};

// How many edges of a graph let the kernel behind them begin before the one before them has ended.
std::size_t programmatic_edges(cudaGraph_t graph) {
  const auto edges = [graph](cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                             std::size_t* count) {
#if CUDART_VERSION >= 13000
    return cudaGraphGetEdges(graph, from, to, data, count);
#else
    return cudaGraphGetEdges_v2(graph, from, to, data, count);
#endif
  };
  std::size_t count = 0;
  must(edges(nullptr, nullptr, nullptr, &count));
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  must(edges(from.data(), to.data(), data.data(), &count));
  return static_cast<std::size_t>(
      std::count_if(data.begin(), data.end(), [](const cudaGraphEdgeData& edge) {
        return edge.type == cudaGraphDependencyTypeProgrammatic;
      }));
}

// Kernels of the library that make sums in parts or draw tickets, so that counters matter.
struct Small {
  MatmulShape shape;
  const char* instance;
};
const Small small_products[] = {
    {{.m = 96, .n = 160, .k = 256}, nullptr},
    {{.m = 64, .n = 136, .k = 4096}, "hopper_split"},
    {{.m = 300, .n = 520, .k = 512}, "hopper_stream"},
    {{.m = 257, .n = 320, .k = 192, .batch = 2}, "bf16_128x128_parts"},
    {{.m = 1000, .n = 1100, .k = 1031, .unaligned = true}, nullptr},  // runs on copies
};

// A product with its data, its options and what a serial run on an idle GPU gave.
struct Job {
  Job(const Small& small, tw_matmul_options usual)
      : options(usual),
        host(make_matmul_data(small.shape, Fill::Normal, 7)),
        device(host, small.shape) {
    options.instance = small.instance;
    if (tw_matmul_supported(&device.problem, &options) != TW_OK) {
      std::printf("not by %s: %s\n", small.instance, tw_message());
      options.instance = nullptr;
    }
  }
  tw_status call(void* workspace, cudaStream_t stream) const {
    return tw_matmul(&device.problem, &options, workspace, room, stream);
  }
  tw_matmul_options options;
  MatmulData host;
  DeviceData device;
};

std::vector<std::unique_ptr<Job>> make_jobs(const tw_matmul_options& options) {
  std::vector<std::unique_ptr<Job>> jobs;
  for (const Small& small : small_products) jobs.push_back(std::make_unique<Job>(small, options));
  return jobs;
}

// The outputs of a serial run.
std::vector<MatmulData> serial_results(const tw_matmul_options& options) {
  const DeviceMemory workspace(room);
  must(cudaMemset(workspace.data(), 0, room));
  std::vector<MatmulData> results;
  for (const auto& job : make_jobs(options)) {
    EXPECT_EQ(job->call(workspace.data(), nullptr), TW_OK) << tw_message();
    results.push_back(job->device.read());
  }
  return results;
}

// One workspace for all, never cleared by the test, full of ones at the beginning.
TEST_F(LibraryOnGpu, ComputesRandomProblemsAsTheReferenceDoes) {
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const DeviceMemory workspace(room);
  must(cudaMemset(workspace.data(), 0xFF, room));
  int computed = 0, unsupported = 0, failures = 0;
  for (const auto& [count, largest] : {std::pair{400, 320}, std::pair{100, 2000}}) {
    for (const MatmulTask& task : random_problems(count, largest, base_seed())) {
      if (failures > 10) return;
      MatmulData data = make_matmul_data(task.shape, task.fill, task.seed);
      DeviceData device(data, task.shape);
      const tw_status status =
          tw_matmul(&device.problem, &options, workspace.data(), room, nullptr);
      if (status == TW_UNSUPPORTED) {
        unsupported += 1;
        continue;
      }
      ASSERT_EQ(status, TW_OK) << run_line(task) << "\n" << tw_message();
      const MatmulData result = device.read();
      const Comparison comparison = compare(result, reference_on_gpu(data, task.shape));
      EXPECT_TRUE(comparison.good()) << run_line(task) << "\n" << comparison.complaint();
      failures += !comparison.good();
      computed += 1;
    }
  }
  std::printf("%d problems computed, %d unsupported\n", computed, unsupported);
  EXPECT_GE(computed, 100);
}

// Where rows begin anywhere the operands are copied first, into the workspace.
TEST_F(LibraryOnGpu, CopiesWhatBeginsAnywhere) {
  const DeviceMemory workspace(room);
  for (const std::int64_t batch : {1, 3}) {
    for (const bool shared_b : {false, true}) {
      const MatmulShape shape = {
          .m = 700, .n = 900, .k = 1031, .batch = batch, .shared_b = shared_b, .unaligned = true};
      MatmulData data = make_matmul_data(shape, Fill::Integers, 11);
      DeviceData device(data, shape);
      tw_matmul_plan* plan = nullptr;
      ASSERT_EQ(tw_matmul_plan_create(&plan, &device.problem, &options), TW_OK) << tw_message();
      EXPECT_NE(std::string(tw_matmul_plan_command(plan)).find("# behind copies of A and B"),
                std::string::npos);
      tw_matmul_plan_destroy(plan);
      must(cudaMemset(workspace.data(), 0xFF, room));
      ASSERT_EQ(tw_matmul(&device.problem, &options, workspace.data(), room, nullptr), TW_OK)
          << tw_message();
      const Comparison comparison = compare(device.read(), reference_on_gpu(data, shape));
      EXPECT_TRUE(comparison.good()) << comparison.complaint();
    }
  }
}

// Problem after problem in one workspace that was zeroed once.
TEST_F(LibraryOnGpu, AReadyWorkspaceServesProblemAfterProblem) {
  const std::vector<MatmulData> serial = serial_results(options);
  const DeviceMemory workspace(room);
  must(cudaMemset(workspace.data(), 0, room));
  options.workspace_is_ready = 1;
  for (int round = 0; round < 20; ++round) {
    const auto jobs = make_jobs(options);
    for (const auto& job : jobs) {
      ASSERT_EQ(job->call(workspace.data(), nullptr), TW_OK) << tw_message();
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      ASSERT_TRUE(same_outputs(jobs[i]->device.read(), serial[i]))
          << "round " << round << ", " << i;
    }
  }
}

TEST_F(LibraryOnGpu, TheWorkspaceIsCheckedBeforeTheLaunch) {
  for (const auto& job : make_jobs(options)) {
    std::size_t needed = 0;
    ASSERT_EQ(tw_matmul_workspace_size(&needed, &job->device.problem, &job->options), TW_OK);
    if (needed == 0) continue;
    const DeviceMemory workspace(needed + 256);
    EXPECT_EQ(tw_matmul(&job->device.problem, &job->options, workspace.data(), needed - 1, nullptr),
              TW_WORKSPACE);
    EXPECT_EQ(
        tw_matmul(&job->device.problem, &job->options, workspace.data() + 16, needed, nullptr),
        TW_WORKSPACE);
    EXPECT_EQ(tw_matmul(&job->device.problem, &job->options, workspace.data(), needed, nullptr),
              TW_OK)
        << tw_message();
    must(cudaDeviceSynchronize());
  }
}

// The first call of a shape may be one that is captured; a graph is launched again and again.
TEST_F(LibraryOnGpu, GraphsAreCapturedAndReplayed) {
  for (const int ready : {0, 1}) {
    options.workspace_is_ready = ready;
    const Stream stream;
    const DeviceMemory workspace(room);
    must(cudaMemset(workspace.data(), 0, room));
    const MatmulShape unseen = {.m = 72 + 8 * ready, .n = 104, .k = 328};
    MatmulData fresh = make_matmul_data(unseen, Fill::Integers, 5);
    DeviceData fresh_device(fresh, unseen);
    const auto jobs = make_jobs(options);
    const Graph graph(stream, [&] {
      EXPECT_EQ(tw_matmul(&fresh_device.problem, &options, workspace.data(), room, stream), TW_OK)
          << tw_message();
      for (const auto& job : jobs) {
        EXPECT_EQ(job->call(workspace.data(), stream), TW_OK) << tw_message();
      }
    });
    const std::vector<MatmulData> serial = serial_results(options);
    for (int replay = 0; replay < 5; ++replay) {
      fresh_device.write();
      for (const auto& job : jobs) job->device.write();
      graph.launch(stream);
      const Comparison comparison = compare(fresh_device.read(), reference_on_gpu(fresh, unseen));
      EXPECT_TRUE(comparison.good()) << comparison.complaint();
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        EXPECT_TRUE(same_outputs(jobs[i]->device.read(), serial[i])) << "replay " << replay;
      }
    }
  }
}

// Behind a kernel that triggers the next may begin early; behind another, and at the beginning, it
// waits for the end.
TEST_F(LibraryOnGpu, OverlapsInAGraphOnlyBehindWhatTriggers) {
  const Stream stream;
  const DeviceMemory workspace(room);
  must(cudaMemset(workspace.data(), 0, room));
  options.workspace_is_ready = 1;
  const MatmulShape shape = {.m = 96, .n = 160, .k = 256};
  const Job triggers({shape, "bf16_64x96_2x1"}, options);
  const Job other({shape, "hopper_cluster_split"}, options);
  if (triggers.options.instance == nullptr || other.options.instance == nullptr) {
    GTEST_SKIP() << "the kernels are not there";
  }
  const auto call = [&](const Job& job) {
    EXPECT_EQ(job.call(workspace.data(), stream), TW_OK) << tw_message();
  };
  call(triggers);
  call(other);
  cudaGraph_t graph;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 3; ++i) call(triggers);
  call(other);
  call(triggers);
  must(cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(programmatic_edges(graph), 2u);
  must(cudaGraphDestroy(graph));
}

// The kernel that the library takes.
std::string instance_of(const tw_matmul_problem& problem, const tw_matmul_options& options) {
  tw_matmul_plan* plan = nullptr;
  EXPECT_EQ(tw_matmul_plan_create(&plan, &problem, &options), TW_OK) << tw_message();
  std::istringstream words(tw_matmul_plan_command(plan));
  std::string word;
  while (words >> word && word != "--instance") continue;
  words >> word;
  tw_matmul_plan_destroy(plan);
  return word;
}

// Each product reads what the one before it writes, while its weights come before that has ended.
// All chains have the kernel of constant weights: another may add up in another order.
TEST_F(LibraryOnGpu, ChainsWithConstantWeightsGiveTheSameBits) {
  constexpr int steps = 41;
  const Stream stream;
  const DeviceMemory workspace(room);
  for (const std::int64_t m : {1, 7, 16, 40, 64, 130, 200}) {
    const MatmulShape shape = {.m = m, .n = 1024, .k = 1024};
    MatmulData host = make_matmul_data(shape, Fill::Normal, 3);
    std::vector<MatmulData> results;
    std::string instance;
    for (const int constant : {0, 1, 1}) {
      DeviceData device(host, shape);
      tw_matmul_problem there = device.problem;
      there.b_is_constant = 1;
      if (instance.empty()) {
        options.instance = nullptr;
        instance = instance_of(there, options);
      }
      options.instance = instance.c_str();
      there.b_is_constant = constant;
      there.epilogue.alpha = 1.0f / 32;  // keeps the size of elements
      tw_matmul_problem back = there;
      std::swap(back.a, back.d);
      const auto chain = [&] {
        for (int step = 0; step < steps; ++step) {
          EXPECT_EQ(
              tw_matmul(step % 2 == 0 ? &there : &back, &options, workspace.data(), room, stream),
              TW_OK)
              << tw_message();
        }
      };
      if (results.size() < 2) {
        chain();
      } else {
        Graph(stream, chain).launch(stream);
      }
      must(cudaStreamSynchronize(stream));
      results.push_back(device.read());
    }
    for (const std::size_t i : {1, 2}) {
      EXPECT_TRUE(same_outputs(results[i], results[0]))
          << m << " rows by " << instance << (i == 2 ? ", graph" : "");
    }
  }
}

// What a caller gets with constant weights and without: perhaps of two kernels, whose bits differ,
// and always within the bound.
TEST_F(LibraryOnGpu, ConstantWeightsMayChangeTheKernelAndNotTheBound) {
  const DeviceMemory workspace(room);
  for (const std::int64_t m : {1, 7, 16, 40, 64, 130, 200}) {
    const MatmulShape shape = {.m = m, .n = 1024, .k = 1024};
    MatmulData host = make_matmul_data(shape, Fill::Normal, 3);
    const MatmulReference reference = reference_on_host(host, shape);
    for (const int constant : {0, 1}) {
      DeviceData device(host, shape);
      device.problem.b_is_constant = constant;
      ASSERT_EQ(tw_matmul(&device.problem, &options, workspace.data(), room, nullptr), TW_OK)
          << tw_message();
      must(cudaDeviceSynchronize());
      const Comparison comparison = compare(device.read(), reference);
      EXPECT_TRUE(comparison.good())
          << m << " rows by " << instance_of(device.problem, options) << "\n"
          << comparison.complaint();
    }
  }
}

// A stream with outputs and a workspace of its own.
struct Lane {
  explicit Lane(const tw_matmul_options& options) : jobs(make_jobs(options)) {
    must(cudaMemset(workspace.data(), 0, room));
  }
  void call(int i) {
    const Job& job = *jobs[static_cast<std::size_t>(i) % jobs.size()];
    if (job.call(workspace.data(), stream) != TW_OK) complaint += tw_message();
  }
  Stream stream;
  DeviceMemory workspace{room};
  std::vector<std::unique_ptr<Job>> jobs;
  std::string complaint;
};

// While one thread captures, none may wait for the device: data are made before and read after.
TEST_F(LibraryOnGpu, EightThreadsWithEightStreamsAgreeWithASerialRun) {
  constexpr int num_threads = 8, num_streams = 8, calls = 1000, calls_per_graph = 20;
  const std::vector<MatmulData> serial = serial_results(options);
  options.workspace_is_ready = 1;
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < num_threads * num_streams; ++i) {
    lanes.push_back(std::make_unique<Lane>(options));
  }
  for (const bool by_graphs : {false, true}) {
    for (const auto& lane : lanes) {
      for (const auto& job : lane->jobs) job->device.write();
    }
    const auto run = [&](std::span<const std::unique_ptr<Lane>> mine) {
      std::vector<std::unique_ptr<Graph>> graphs;
      for (const auto& lane : mine) {
        if (!by_graphs) break;
        graphs.push_back(std::make_unique<Graph>(lane->stream, [&] {
          for (int i = 0; i < calls_per_graph; ++i) lane->call(i);
        }));
      }
      for (int i = 0; i < (by_graphs ? calls / calls_per_graph : calls); ++i) {
        for (std::size_t s = 0; s < mine.size(); ++s) {
          if (by_graphs) {
            graphs[s]->launch(mine[s]->stream);
          } else {
            mine[s]->call(i);
          }
        }
      }
      for (const auto& lane : mine) must(cudaStreamSynchronize(lane->stream));
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < num_threads; ++i) {
      const std::span mine(lanes.data() + i * num_streams, num_streams);
      threads.emplace_back([&run, mine] {
        try {
          run(mine);
        } catch (const std::exception& exception) {
          mine.front()->complaint += exception.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& lane : lanes) {
      ASSERT_EQ(lane->complaint, "");
      for (std::size_t i = 0; i < lane->jobs.size(); ++i) {
        ASSERT_TRUE(same_outputs(lane->jobs[i]->device.read(), serial[i])) << "product " << i;
      }
    }
    std::printf("%d calls %s\n", num_threads * num_streams * calls,
                by_graphs ? "in graphs" : "outside of graphs");
  }
}

TEST_F(LibraryOnGpu, PlansServeOtherAddresses) {
  const std::vector<MatmulData> serial = serial_results(options);
  const DeviceMemory workspace(room);
  const auto first = make_jobs(options), second = make_jobs(options);
  for (std::size_t i = 0; i < first.size(); ++i) {
    tw_matmul_plan* plan = nullptr;
    ASSERT_EQ(tw_matmul_plan_create(&plan, &first[i]->device.problem, &first[i]->options), TW_OK)
        << tw_message();
    std::printf("%s\n", tw_matmul_plan_command(plan));
    EXPECT_LE(tw_matmul_plan_workspace_size(plan), room);
    ASSERT_EQ(tw_matmul_plan_run(plan, &second[i]->device.problem, workspace.data(), room, nullptr),
              TW_OK)
        << tw_message();
    EXPECT_TRUE(same_outputs(second[i]->device.read(), serial[i])) << i;
    tw_matmul_problem other = first[i]->device.problem;
    other.k -= 8;
    EXPECT_EQ(tw_matmul_plan_run(plan, &other, workspace.data(), room, nullptr), TW_INVALID);
    tw_matmul_plan_destroy(plan);
  }
}

// Not judged: timing is never in tests. The best of 40 batches that the GPU's queue can hold.
TEST_F(LibraryOnGpu, PrintsWhatAWarmCallCosts) {
  options.workspace_is_ready = 1;
  const DeviceMemory workspace(room);
  must(cudaMemset(workspace.data(), 0, room));
  const Stream stream;
  for (const auto& job : make_jobs(options)) {
    tw_matmul_plan* plan = nullptr;
    ASSERT_EQ(tw_matmul_plan_create(&plan, &job->device.problem, &job->options), TW_OK);
    const auto best = [&](const std::function<tw_status()>& call) {
      constexpr int calls = 200;
      double least = 1e9;
      for (int batch = 0; batch < 40; ++batch) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) EXPECT_EQ(call(), TW_OK) << tw_message();
        const std::chrono::duration<double, std::micro> all =
            std::chrono::steady_clock::now() - begin;
        least = std::min(least, all.count() / calls);
        must(cudaStreamSynchronize(stream));
      }
      return least;
    };
    const double call = best([&] { return job->call(workspace.data(), stream); });
    const double run = best([&] {
      return tw_matmul_plan_run(plan, &job->device.problem, workspace.data(), room, stream);
    });
    std::printf("%.2f us a call, %.2f us a plan's run: %s\n", call, run,
                tw_matmul_plan_command(plan));
    tw_matmul_plan_destroy(plan);
  }
}

}  // namespace
}  // namespace tw::tests
