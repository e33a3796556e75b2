#include "src/bench/cudnn.h"

#include <cuda_runtime_api.h>

#include "src/bench/cudnn_graph.h"
#include "src/bench/device.h"
#include "src/bench/finish.h"

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

Status execute(const Plan& plan, const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue,
               int set, void* stream) {
  Shared& with = shared();
  std::vector<std::int64_t> ids = {ImageId, FilterId, OutputId};
  std::vector<void*> pointers = {buffers.image(set), buffers.filter(set), buffers.d(set)};
  if (epilogue.residual) {
    ids.push_back(ResidualId);
    pointers.push_back(buffers.residual(set));
  }
  if (epilogue.bias) {
    ids.push_back(BiasId);
    pointers.push_back(buffers.bias(set));
  }
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

}  // namespace

Cudnn::Cudnn(const Conv2dBuffers& buffers, int most) : buffers_(&buffers), most_(most) {}

std::vector<Candidate> Cudnn::fused(const Conv2dEpilogue& epilogue, std::string& why) const {
  why = shared().why;
  if (shared().target.functions == nullptr) return {};
  const Descriptor graph = graph_of(shared().target, buffers_->what(), epilogue);
  if (!graph.is_good()) {
    why = fmt::format("cuDNN refuses the graph with error {}: {}", graph.error(),
                      shared().target.last_error());
    return {};
  }
  std::vector<Candidate> candidates;
  for (const Plan& plan : plans_of(shared().target, graph, most_)) {
    shared().reserve(plan.workspace_bytes);
    // Once outside of a graph: some load or compile at their first launch.
    const Status status = execute(plan, *buffers_, epilogue, 0, nullptr);
    if (cudaDeviceSynchronize() != cudaSuccess) must(1, "A kernel of cuDNN's");
    if (!status.is_good()) continue;
    candidates.push_back({plan.name, [plan, epilogue, buffers = buffers_](int set, void* stream) {
                            return execute(plan, *buffers, epilogue, set, stream);
                          }});
  }
  if (candidates.empty()) why = "cuDNN has no plan that runs: " + shared().target.last_error();
  return candidates;
}

std::string Cudnn::version() {
  if (shared().target.functions == nullptr) return "";
  const std::size_t number = shared().target.functions->version();
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

Candidate then_finish(const Candidate& convolution, const Conv2dBuffers& buffers,
                      const Conv2dEpilogue& epilogue) {
  return {convolution.name + " + kernel", [convolution, epilogue, &buffers](int set, void* stream) {
            const std::int64_t columns = buffers.what().k;
            if (columns % 8 != 0) {
              return Status::refused(fmt::format("k = {} must be a multiple of 8.", columns));
            }
            const Status status = convolution.launch(set, stream);
            if (!status.is_good()) return status;
            finish(buffers.d(set), epilogue.residual ? buffers.residual(set) : nullptr,
                   epilogue.bias ? buffers.bias(set) : nullptr, epilogue.relu, buffers.what().type,
                   buffers.what().pixels(), columns, stream);
            return Status::good();
          }};
}

}  // namespace tw::bench
