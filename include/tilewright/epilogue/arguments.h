// What the library's epilogue computes of a sum at (row, column):
//
//   value  = alpha * row_scale[row] * column_scale[column] * sum + beta * source[row, column]
//            + column_bias[column] + row_bias[row]
//   value  = activation(value); gated: activation(value of an even column) * value of the next
//   auxiliary[row, column] = value before the activation
//   amax   = max(amax, |value|)
//   output = value * output_scale, cast
//
// What is null or one is left out. With `gated` the output and the source have n / 2 columns.
#pragma once

#include <cstdint>

#include "tilewright/number/element_type.h"

namespace tw {

enum class Activation : unsigned { None, Relu, Gelu, Silu, Tanh, Clamp };

struct EpilogueArguments {
  float alpha = 1.0f;
  float beta = 0.0f;
  float output_scale = 1.0f;  // quantises: the output is value * output_scale
  float clamp_low = 0.0f;     // bounds of Activation::Clamp
  float clamp_high = 0.0f;
  Activation activation = Activation::None;
  bool gated = false;

  // C, or a residual: m by n like the output (n / 2 with `gated`: added after the gate). Pitches
  // count elements.
  const void* source = nullptr;
  std::int64_t source_pitch = 0;
  std::int64_t source_batch_pitch = 0;
  ElementType source_type = ElementType::Bf16;  // bf16, fp16 or fp32

  ElementType bias_type = ElementType::Bf16;  // both biases': bf16, fp16 or fp32
  const void* column_bias = nullptr;          // n values, the same for every row
  const void* row_bias = nullptr;             // m values
  const float* column_scale = nullptr;        // n values
  const float* row_scale = nullptr;           // m values

  // The value before the activation, m by n, in `auxiliary_type`.
  void* auxiliary = nullptr;
  std::int64_t auxiliary_pitch = 0;
  std::int64_t auxiliary_batch_pitch = 0;
  ElementType auxiliary_type = ElementType::Bf16;  // bf16, fp16 or fp32

  // Raised to the largest magnitude of a value; the caller sets it to 0 before. Bits of a float.
  std::uint32_t* amax = nullptr;
};

}  // namespace tw
