// Verified runs on a real GPU.
#pragma once

#include <string>

#include "src/instances/instance.h"
#include "src/verify/device.h"
#include "src/verify/reference.h"

namespace tw {

// Copies the data to the GPU, runs the instance `launches` times and copies the outputs back. Gives
// up after a minute: a hang ends the program with status 1, because the device cannot be used any
// more.
Status run_on_gpu(const Instance& instance, const LaunchOrder& order, MatmulData& data,
                  const MatmulShape& shape, int launches);

// The sums by one thread per element in double precision: slow, simple, shares no code with the
// kernels. The epilogue then is the host's.
MatmulReference reference_on_gpu(const MatmulData& data, const MatmulShape& shape);

}  // namespace tw
