// Random problems: ragged, with the corners 0 and 1 and exact tile multiples mixed in.
#pragma once

#include <random>
#include <vector>

#include "src/matmul/task.h"

namespace tw {

// Of extents up to `largest`, with data that keep sums exact.
MatmulTask random_task(const Instance& instance, int largest, std::mt19937_64& random);

}  // namespace tw
