// What a kernel's launch is expected to take.
#pragma once

#include "src/dispatch/launch_options.h"

namespace tw {

// Microseconds on a device with `sms` multiprocessors, from the tiles, the bytes and the products
// that each multiprocessor gets. `operand_bytes` are what A and B have in memory, where that is not
// m * k and n * k elements.
double expected_microseconds(const KernelFacts& kernel, const MatmulProblem& problem,
                             const MatmulOrder& order, unsigned sms, double operand_bytes = 0);

}  // namespace tw
