// cuDNN as a peer: its plans for a convolution, alone and with an epilogue in one graph.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "src/bench/harness/device.h"
#include "src/bench/peers/cudnn_peer.h"
#include "src/bench/peers/peers.h"
#include "src/families/conv2d_bench_cudnn.h"
#include "src/families/conv2d_peer_finish.h"

namespace tw::bench {

namespace {

using namespace cudnn;

Status execute_on(const Plan& plan, const tw_conv2d_problem& problem, void* stream) {
  Pack pack;
  pack.add(ImageId, problem.image);
  pack.add(FilterId, problem.filter);
  pack.add(OutputId, problem.d);
  if (problem.epilogue.source.data != nullptr) pack.add(ResidualId, problem.epilogue.source.data);
  if (problem.epilogue.column_bias != nullptr) pack.add(BiasId, problem.epilogue.column_bias);
  return execute(plan, pack, stream);
}

const tw_conv2d_problem& problem_of(const Buffers& buffers, int set, bool with_epilogue) {
  return buffers.problem(set, with_epilogue).as<tw_conv2d_problem>();
}

// Plans in the order in which its heuristics (A, then B, then the fallback) name them; where there
// is none, `why` is a sentence.
std::vector<Candidate> candidates_of(const Buffers& buffers, bool with_epilogue,
                                     const PeerEffort& effort, std::string& why) {
  why = shared().why;
  if (shared().target.functions == nullptr) return {};
  const Descriptor graph = graph_of(shared().target, problem_of(buffers, 0, with_epilogue));
  if (!graph.is_good()) {
    why = fmt::format("cuDNN refuses the graph with error {}: {}", graph.error(),
                      shared().target.last_error());
    return {};
  }
  std::vector<Candidate> candidates;
  for (const Plan& plan :
       plans_of(shared().target, graph, effort.algorithms, effort.plan_seconds)) {
    shared().reserve(plan.workspace_bytes);
    // Once outside of a graph: some load or compile at their first launch.
    const Status status = execute_on(plan, problem_of(buffers, 0, with_epilogue), nullptr);
    if (cudaDeviceSynchronize() != cudaSuccess) must(1, "A kernel of cuDNN's");
    if (!status.is_good()) continue;
    candidates.push_back({plan.name, [plan, with_epilogue, &buffers](int set, void* stream) {
                            return execute_on(plan, problem_of(buffers, set, with_epilogue),
                                              stream);
                          }});
  }
  if (candidates.empty()) why = "cuDNN has no plan that runs: " + shared().target.last_error();
  return candidates;
}

// A convolution without an epilogue, and a kernel of ours that then applies it to D.
Candidate then_finish(const Candidate& convolution, const Buffers& buffers) {
  return {convolution.name + " + kernel", [convolution, &buffers](int set, void* stream) {
            const tw_conv2d_problem& problem = problem_of(buffers, set, true);
            if (problem.k % 8 != 0) {
              return Status::refused(fmt::format("k = {} must be a multiple of 8.", problem.k));
            }
            const Status status = convolution.launch(set, stream);
            if (!status.is_good()) return status;
            finish(problem.d, problem.epilogue.source.data, problem.epilogue.column_bias,
                   buffers.nodes().relu, buffers.what().shape.type,
                   problem.n * outputs_of(problem.h) * outputs_of(problem.w), problem.k, stream);
            return Status::good();
          }};
}

void add_cudnn(Peers& peers, const Buffers& buffers, const PeerEffort& effort,
               const std::vector<Candidate>&) {
  const auto add = [&](std::vector<Candidate>& found, const char* side, bool with_epilogue) {
    std::string why;
    found = candidates_of(buffers, with_epilogue, effort, why);
    if (!why.empty()) peers.notes.push_back(side + why);
  };
  add(peers.plain, "peer: ", false);
  if (!buffers.nodes().any()) return;
  add(peers.fused, "peer, epilogue fused: ", true);
  peers.then_kernel = [&buffers](const Candidate& one) { return then_finish(one, buffers); };
}

const RegisteredPeer registered({"cudnn", add_cudnn, version});

}  // namespace

}  // namespace tw::bench
