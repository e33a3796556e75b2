// Which of the compiled instances a request gets.
#pragma once

#include <string>

#include "src/matmul/task.h"

namespace tw::cli {

// What a request says of the instance; empty strings say nothing.
struct Wish {
  std::string arch;
  std::string instance;
  std::string tile;
  std::string cluster;
  std::string consumers;
  Tracing tracing = Tracing::Off;
};

const Instance* instance_named(const std::string& name);  // null: there is none

// Whether there are such a target, instance and consumers at all.
Status check_words(const Wish& wish);

// The first that serves; otherwise a sentence with the nearest ones.
Result<const Instance*> choose_instance(const Wish& wish, const MatmulShape& shape,
                                        const MatmulOrder& order);

}  // namespace tw::cli
