// Stands in for gpu.cu in a build without the CUDA toolkit: every request says so.
#include "src/matmul/gpu.h"

namespace tw {

namespace {
const char* const sentence = "This build has no CUDA: nvcc was not found when it was configured.";
}

std::string why_no_gpu() { return sentence; }
std::string gpu_name() { return "none"; }
std::string why_not_on_gpu(const MatmulInstance&) { return sentence; }
Status run_on_gpu(const MatmulInstance&, const MatmulOrder&, MatmulData&, const MatmulShape&, int) {
  return Status::refused(sentence);
}
Status trace_on_gpu(const MatmulInstance&, const MatmulOrder&, MatmulData&, const MatmulShape&,
                    std::vector<TraceEvent>&, std::vector<std::uint32_t>&, std::uint32_t) {
  return Status::refused(sentence);
}
MatmulReference reference_on_gpu(const MatmulData& data, const MatmulShape& shape) {
  return reference_on_host(data, shape);
}

}  // namespace tw
