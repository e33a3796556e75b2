// Stands in for gpu.cu in a build without the CUDA toolkit: every request says so.
#include "src/verify/gpu.h"

namespace tw {

Status run_on_gpu(const Instance&, const LaunchOrder&, MatmulData&, const MatmulShape&, int) {
  return Status::refused(why_no_gpu());
}
MatmulReference reference_on_gpu(const MatmulData& data, const MatmulShape& shape) {
  return reference_on_host(data, shape);
}

}  // namespace tw
