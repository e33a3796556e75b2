// What is known of a compiled kernel that multiplies; it stands first in what its family knows.
#pragma once

#include "tilewright/family/matmul_config.h"

namespace tw {

struct ProductFacts {
  MatmulConfig config;
  unsigned stages;
};
template <class Parts>
constexpr ProductFacts facts_of = {Parts::config, Parts::stages};

}  // namespace tw
