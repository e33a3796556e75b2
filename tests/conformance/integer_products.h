// Products of integers by tcgen05, which sm_100a has and sm_103a has not: apart from the others,
// whose images run on both.
#pragma once

#include "tests/conformance/tensor_products.h"

namespace tw::conformance {

inline std::vector<Program> list_integer_products() {
  using namespace tensor_format;
  std::vector<Program> programs;
  add_products<MmaKind::I8, 1>(programs, s8, s8, {256}, true);
  add_products<MmaKind::I8, 1>(programs, u8, s8, {64}, false);
  add_products<MmaKind::I8, 2>(programs, s8, s8, {64}, false);
  return programs;
}

}  // namespace tw::conformance
