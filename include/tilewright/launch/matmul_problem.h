// One matrix product, as a caller states it.
#pragma once

#include <cstdint>

#include "tilewright/epilogue/arguments.h"
#include "tilewright/io/major.h"
#include "tilewright/number/element_type.h"

namespace tw {

// A is m by k, B is n by k. Pitches count elements: from one line of memory to the next, and from
// one matrix of the batch to the next (0: all share one).
struct MatmulOperand {
  const void* data = nullptr;
  std::int64_t pitch = 0;
  std::int64_t batch_pitch = 0;
  ElementType type = ElementType::Bf16;
  Major major = Major::K;
};

// m by n, row-major (n / 2 columns with a gated epilogue).
struct MatmulOutput {
  void* data = nullptr;
  std::int64_t pitch = 0;
  std::int64_t batch_pitch = 0;
  ElementType type = ElementType::Bf16;
};

// D = epilogue(A B^T), for each matrix of the batch.
struct MatmulProblem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  MatmulOperand a;
  MatmulOperand b;
  MatmulOutput d;
  EpilogueArguments epilogue;
  bool b_is_constant = false;  // see tw_matmul_problem: what a launch takes depends on it
};

}  // namespace tw
