// The GPU of this machine.
#pragma once

#include <string>

namespace tw {

// Empty when there is a GPU that can run kernels; otherwise a sentence that says why not.
std::string why_no_gpu();
std::string gpu_name();

}  // namespace tw
