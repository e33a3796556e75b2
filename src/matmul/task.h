// A problem with its numbers, and the instance that is to compute it.
#pragma once

#include <string>

#include "src/matmul/instance.h"
#include "src/matmul/names.h"
#include "src/matmul/shape.h"

namespace tw {

struct MatmulTask {
  MatmulShape shape;
  MatmulOrder order;
  Fill fill = Fill::Integers;
  std::uint64_t seed = 1;
  const MatmulInstance* instance = nullptr;
};

// What tells one instance from another.
InstanceWords words_of(const MatmulConfig& config);
InstanceWords words_of(const MatmulInstance& instance);

// What the instance takes where nothing is said: an empty product of its types and layout.
MatmulShape usual_shape(const MatmulInstance& instance);
MatmulOrder usual_order(const MatmulInstance& instance);
// `rows`, or as many as the instance takes.
std::int64_t fitting_rows(const MatmulInstance& instance, std::int64_t rows);

// The `./tw run` line that repeats a task, but for where and in which order it runs.
std::string run_line(const MatmulTask& task);

// Whether the instance takes such a problem; otherwise a sentence about what it asks for instead.
Status serves(const MatmulInstance& instance, const MatmulShape& shape, const MatmulOrder& order);

}  // namespace tw
