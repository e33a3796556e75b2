// A problem with its numbers, and the instance that is to compute it.
#pragma once

#include <random>
#include <string>

#include "src/instances/instance.h"
#include "src/instances/names.h"
#include "src/instances/shape.h"
#include "src/verify/instance_words.h"

namespace tw {

struct MatmulTask {
  MatmulShape shape;
  LaunchOrder order;
  Fill fill = Fill::Integers;
  std::uint64_t seed = 1;
  const Instance* instance = nullptr;
};

// What the instance takes where nothing is said: an empty product of its types and layout.
MatmulShape usual_shape(const Instance& instance);
LaunchOrder usual_order(const Instance& instance);
// `rows`, or as many as the instance takes.
std::int64_t fitting_rows(const Instance& instance, std::int64_t rows);

// Random: ragged, with the corners 0 and 1 and exact tile multiples mixed in; of extents up to
// `largest`, with data that keep sums exact.
MatmulTask random_task(const Instance& instance, int largest, std::mt19937_64& random);

// The `./tw run` line that repeats a task, but for where and in which order it runs.
std::string run_line(const MatmulTask& task);

// Whether the instance takes such a problem; otherwise a sentence about what it asks for instead.
Status serves(const Instance& instance, const MatmulShape& shape, const LaunchOrder& order);

}  // namespace tw
