// Compiled to PTX when the test runs; TWICE names one of kernels.h, SKELETON what it is bound to.
#include "tests/ptx/kernels.h"
#include "tilewright/kernel/entry.h"

namespace tw {

using Twice = kernel::SKELETON<twice::TWICE>;
template __global__ void kernel::entry<Twice>(const __grid_constant__ Twice::Params);

}  // namespace tw
