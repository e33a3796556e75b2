#include "src/bench/peers/cudnn_peer.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "src/bench/harness/device.h"

namespace tw::bench::cudnn {

Shared::Shared() {
  target.functions = cudnn::open(why);
  if (target.functions == nullptr) return;
  if (const int error = target.functions->create(&target.handle); error != 0) {
    why = fmt::format("cudnnCreate failed with error {}.", error);
    target.functions = nullptr;
  }
}

void Shared::reserve(std::int64_t bytes) {
  if (bytes <= workspace_bytes) return;
  cudaFree(workspace);
  must(cudaMalloc(&workspace, static_cast<std::size_t>(bytes)), "Allocating for cuDNN");
  workspace_bytes = bytes;
}

Shared& shared() {
  static Shared once;
  return once;
}

Status execute(const Plan& plan, const Pack& given, void* stream) {
  Shared& with = shared();
  Descriptor pack(*with.target.functions, Kind::VariantPack);
  pack.set(Attribute::PackIds, Type::Int64, std::span<const std::int64_t>(given.ids))
      .set(Attribute::PackPointers, Type::Pointer, std::span<void* const>(given.pointers))
      .set(Attribute::PackWorkspace, Type::Pointer, with.workspace)
      .finalize();
  int error = pack.error();
  if (error == 0) error = with.target.functions->set_stream(with.target.handle, stream);
  if (error == 0) {
    error = with.target.functions->execute(with.target.handle, plan.plan.raw(), pack.raw());
  }
  if (error == 0) return Status::good();
  return Status::refused(fmt::format("cuDNN's error {}: {}", error, with.target.last_error()));
}

std::string version() {
  if (shared().target.functions == nullptr) return "";
  const std::size_t number = shared().target.functions->version();
  return fmt::format(", cuDNN {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

}  // namespace tw::bench::cudnn
