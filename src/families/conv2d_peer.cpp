// cuDNN as a peer: its plans for a convolution, alone and with an epilogue in one graph.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "src/bench/harness/device.h"
#include "src/families/conv2d_bench_cudnn.h"
#include "src/families/conv2d_peer_finish.h"
#include "src/bench/peers/peers.h"

namespace tw::bench {

namespace {

using namespace cudnn;

// What all plans of the process share; the device's memory for it is kept until the end.
struct Shared {
  Target target;
  std::string why;
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;

  Shared() {
    target.functions = cudnn::open(why);
    if (target.functions == nullptr) return;
    if (const int error = target.functions->create(&target.handle); error != 0) {
      why = fmt::format("cudnnCreate failed with error {}.", error);
      target.functions = nullptr;
    }
  }
  void reserve(std::int64_t bytes) {
    if (bytes <= workspace_bytes) return;
    cudaFree(workspace);
    must(cudaMalloc(&workspace, static_cast<std::size_t>(bytes)), "Allocating for cuDNN");
    workspace_bytes = bytes;
  }
};

Shared& shared() {
  static Shared once;
  return once;
}

Status execute(const Plan& plan, const tw_conv2d_problem& problem, void* stream) {
  Shared& with = shared();
  std::vector<std::int64_t> ids = {ImageId, FilterId, OutputId};
  std::vector<void*> pointers = {const_cast<void*>(problem.image),
                                 const_cast<void*>(problem.filter), problem.d};
  const auto add = [&](std::int64_t id, const void* data) {
    if (data == nullptr) return;
    ids.push_back(id);
    pointers.push_back(const_cast<void*>(data));
  };
  add(ResidualId, problem.epilogue.source.data);
  add(BiasId, problem.epilogue.column_bias);
  Descriptor pack(*with.target.functions, Kind::VariantPack);
  pack.set(Attribute::PackIds, Type::Int64, std::span<const std::int64_t>(ids))
      .set(Attribute::PackPointers, Type::Pointer, std::span<void* const>(pointers))
      .set(Attribute::PackWorkspace, Type::Pointer, with.workspace)
      .finalize();
  int error = pack.error();
  if (error == 0) error = with.target.functions->set_stream(with.target.handle, stream);
  if (error == 0)
    error = with.target.functions->execute(with.target.handle, plan.plan.raw(), pack.raw());
  if (error == 0) return Status::good();
  return Status::refused(fmt::format("cuDNN's error {}: {}", error, with.target.last_error()));
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
    const Status status = execute(plan, problem_of(buffers, 0, with_epilogue), nullptr);
    if (cudaDeviceSynchronize() != cudaSuccess) must(1, "A kernel of cuDNN's");
    if (!status.is_good()) continue;
    candidates.push_back({plan.name, [plan, with_epilogue, &buffers](int set, void* stream) {
                            return execute(plan, problem_of(buffers, set, with_epilogue), stream);
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
               const std::string&) {
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

std::string version() {
  if (shared().target.functions == nullptr) return "";
  const std::size_t number = shared().target.functions->version();
  return fmt::format(", cuDNN {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

const RegisteredPeer registered({"cudnn", add_cudnn, version});

}  // namespace

}  // namespace tw::bench
