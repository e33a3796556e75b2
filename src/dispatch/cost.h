// What a kernel's launch is expected to take.
#pragma once

#include "src/matmul/instance.h"

namespace tw {

// Microseconds on a device with `sms` multiprocessors, from the tiles, the bytes and the products
// that each multiprocessor gets.
double expected_microseconds(const MatmulInstance& instance, const MatmulProblem& problem,
                             const MatmulOrder& order, unsigned sms);

}  // namespace tw
