// What is multiplied, without the numbers: extents, types, how memory is laid out, the epilogue.
#pragma once

#include <cstdint>

#include "src/instances/spacing.h"
#include "tilewright/launch/matmul_problem.h"

namespace tw {

// How inputs are made, and with that how results are compared.
enum class Fill {
  Integers,  // small integers and scales that are powers of two: sums are exact
  Normal,    // standard normal, rounded to the type (s8: all of -127 .. 127)
  Position,  // one operand selects, the other tells its position: each result is one element
};

// Which parts an epilogue has; data.cpp makes the vectors and matrices that go with them.
struct EpilogueShape {
  float alpha = 1.0f;
  float beta = 0.0f;          // 0: no source
  float output_scale = 1.0f;  // 1: none
  Activation activation = Activation::None;
  float clamp_low = 0.0f;
  float clamp_high = 0.0f;
  bool gated = false;
  bool column_bias = false;
  bool row_bias = false;
  bool column_scale = false;
  bool row_scale = false;
  bool auxiliary = false;
  bool amax = false;
  ElementType source_type = ElementType::Bf16;
  ElementType bias_type = ElementType::Bf16;
  ElementType auxiliary_type = ElementType::Bf16;

  // Nothing is done to the sums.
  bool is_plain() const {
    EpilogueShape plain;
    plain.source_type = source_type;
    plain.bias_type = bias_type;
    plain.auxiliary_type = auxiliary_type;
    return *this == plain;
  }
  bool operator==(const EpilogueShape&) const = default;

  // The parts of it that kernels take whose sums begin at C.
  EpilogueShape begun(ElementType d_type) const {
    EpilogueShape taken;
    taken.beta = beta != 0.0f ? 1.0f : 0.0f;
    taken.source_type = taken.bias_type = d_type;
    taken.column_bias = column_bias;
    if (activation == Activation::Relu) taken.activation = activation;
    return taken;
  }
};

struct MatmulShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  ElementType a_type = ElementType::Bf16;
  ElementType b_type = ElementType::Bf16;
  ElementType d_type = ElementType::Bf16;
  Major a_major = Major::K;
  Major b_major = Major::K;
  bool shared_b = false;   // one B for the whole batch
  bool unaligned = false;  // lines of memory begin at no multiple of 16 bytes
  Spacing spacing = Spacing::Usual;
  EpilogueShape epilogue = {};

  // Columns of D: a gate makes one column of two.
  std::int64_t output_columns() const { return epilogue.gated ? n / 2 : n; }
  std::int64_t outputs() const { return batch * m * output_columns(); }
  bool operator==(const MatmulShape&) const = default;
};

// A power of two with which typical results of `fill` stay inside the range of D's type; 1 where
// the type has range enough.
float fitting_output_scale(const MatmulShape& shape, Fill fill);

}  // namespace tw
