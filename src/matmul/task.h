// A problem with its numbers, and the instance that is to compute it.
#pragma once

#include <string>

#include "src/matmul/instance.h"
#include "src/matmul/shape.h"

namespace tw {

struct MatmulTask {
  MatmulShape shape;
  MatmulOrder order;
  Fill fill = Fill::Integers;
  std::uint64_t seed = 1;
  const MatmulInstance* instance = nullptr;
};

// The `./tw run` line that repeats a task, but for where and in which order it runs.
std::string run_line(const MatmulTask& task);

// Whether the instance was compiled for such a problem; otherwise what it asks for instead.
Status serves(const MatmulInstance& instance, const MatmulShape& shape, const MatmulOrder& order);

}  // namespace tw
