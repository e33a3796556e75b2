// Attention through libtilewright on the GPU: the library chooses the kernel, and whichever it is,
// results are within the bound that the types of the operands have (docs/attention.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "src/families/attention.h"
#include "src/verify/gpu.h"
#include "tests/families/seed.h"
#include "tests/gpu/placed.h"
#include "tilewright.h"

namespace tw::tests {
namespace {

constexpr std::size_t room = std::size_t{256} << 20;  // the usual workspace_limit

class LibraryAttentionOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
};

TEST_F(LibraryAttentionOnGpu, ComputesRandomProblems) {
  const DeviceWorkspace workspace(room);
  Random random(base_seed() + 3);
  for (int i = 0; i < 200; ++i) {
    Placed<tw_attention_problem> placed(case_here(attention_of_any_kernel, i, random));
    tw_attention_plan* plan = nullptr;
    ASSERT_EQ(tw_attention_plan_create(&plan, &placed.given, nullptr), TW_OK) << tw_message();
    const std::string line = tw_attention_plan_command(plan);
    EXPECT_EQ(tw_attention_plan_run(plan, &placed.given, workspace.given().data, room, nullptr),
              TW_OK)
        << line << "\n"
        << tw_message();
    tw_attention_plan_destroy(plan);
    wait_or_exit(line);
    placed.expect_right(line);
    if (HasFatalFailure()) return;
  }
}

TEST_F(LibraryAttentionOnGpu, IsCapturedIntoGraphs) {
  const DeviceWorkspace workspace(room);
  Random random(base_seed() + 4);
  for (int i = 0; i < 20; ++i) {
    Placed<tw_attention_problem> placed(case_here(attention_of_any_kernel, i, random));
    tw_status status = TW_INVALID;
    replay_captured([&](cudaStream_t stream) {
      status = tw_attention(&placed.given, nullptr, workspace.given().data, room, stream);
    });
    ASSERT_EQ(status, TW_OK) << tw_message();
    placed.expect_right("captured, problem " + std::to_string(i));
    if (HasFatalFailure()) return;
  }
}

// The test of tests/families/attention_test.cpp, with kernels that the library chooses.
TEST_F(LibraryAttentionOnGpu, DecodesTokensWithinTheBoundOfPrefillsRows) {
  const DeviceWorkspace workspace(room);
  Random random(base_seed() + 5);
  Case made = case_here(attention_of_any_kernel, 0, random);
  made = usual_case(attention_of_any_kernel, *made.instance);
  auto& problem = made.as<tw_attention_problem>();
  problem.sequences = 1;
  problem.heads = 8;
  problem.key_heads = 2;
  problem.queries = problem.keys = 1300;
  problem.causal = 1;
  made.fill = Fill::Normal;
  ASSERT_TRUE(serves(made).is_good()) << serves(made).sentence();
  Placed<tw_attention_problem> placed(made);
  const auto run = [&](const tw_attention_problem& given) {
    ASSERT_EQ(tw_attention(&given, nullptr, workspace.given().data, room, nullptr), TW_OK)
        << tw_message();
    wait_or_exit("decode beside prefill");
  };
  run(placed.given);
  placed.expect_right("prefill");
  for (std::int64_t token = 7; token < problem.queries; token += 97) {
    tw_attention_problem one = placed.given;
    for (tw_matrix* const matrix : {&one.q, &one.output}) {
      matrix->data = static_cast<std::byte*>(matrix->data) + token * matrix->row_stride * 2;
    }
    for (std::int64_t head = 0; head < one.heads; ++head) {
      auto* const row =
          static_cast<std::byte*>(one.output.data) + head * one.output.batch_stride * 2;
      ASSERT_EQ(cudaMemset(row, 0xff, static_cast<std::size_t>(one.head_size) * 2), cudaSuccess);
    }
    one.queries = 1;
    one.keys = token + 1;
    run(one);
  }
  placed.expect_right("decoded tokens");
}

bool has_only_kernels(cudaGraph_t graph) {
  std::size_t count = 0;
  must(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  must(cudaGraphGetNodes(graph, nodes.data(), &count));
  return std::all_of(nodes.begin(), nodes.end(), [](cudaGraphNode_t node) {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    must(cudaGraphNodeGetType(node, &type));
    return type == cudaGraphNodeTypeKernel;
  });
}

// Graphs have counters of their own: what others leave in a workspace does not matter, nor what
// runs beside. When they are gone, the next have theirs.
TEST_F(LibraryAttentionOnGpu, GraphsNeedNoNodeThatClearsCounters) {
  Random random(base_seed() + 6);
  int with_counters = 0;
  for (int round = 0; round < 12; ++round) {
    std::vector<std::unique_ptr<Placed<tw_attention_problem>>> placed;
    std::vector<std::unique_ptr<DeviceWorkspace>> workspaces;
    std::vector<cudaStream_t> streams(3);
    std::vector<cudaGraphExec_t> graphs;
    for (cudaStream_t& stream : streams) {
      placed.push_back(std::make_unique<Placed<tw_attention_problem>>(
          case_here(attention_of_any_kernel, round, random)));
      std::size_t bytes = 0;
      ASSERT_EQ(tw_attention_workspace_size(&bytes, &placed.back()->given, nullptr), TW_OK);
      with_counters += bytes > 0 ? 1 : 0;
      workspaces.push_back(std::make_unique<DeviceWorkspace>(room));
      must(cudaMemset(workspaces.back()->given().data, 0xff, room));
      must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      EXPECT_EQ(tw_attention(&placed.back()->given, nullptr, workspaces.back()->given().data, room,
                             stream),
                TW_OK)
          << tw_message();
      cudaGraph_t graph;
      must(cudaStreamEndCapture(stream, &graph));
      EXPECT_TRUE(has_only_kernels(graph));
      graphs.emplace_back();
      must(cudaGraphInstantiate(&graphs.back(), graph, 0));
      must(cudaGraphDestroy(graph));
    }
    must(cudaDeviceSynchronize());
    for (int replay = 0; replay < 20; ++replay) {
      for (std::size_t i = 0; i < graphs.size(); ++i) must(cudaGraphLaunch(graphs[i], streams[i]));
    }
    wait_or_exit("three graphs side by side");
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      must(cudaGraphExecDestroy(graphs[i]));
      must(cudaStreamDestroy(streams[i]));
      placed[i]->expect_right("round " + std::to_string(round));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(with_counters, 0);
}

}  // namespace
}  // namespace tw::tests
