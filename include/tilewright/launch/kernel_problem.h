// A problem as one kernel takes it: with the product that the kernel computes, made once.
#pragma once

#include <utility>

#include "tilewright/launch/checked.h"
#include "tilewright/launch/product_facts.h"

namespace tw {

struct KernelProblem {
  const Checked& checked;
  MatmulProblem product;  // empty where the kernel multiplies nothing

  operator const Checked&() const { return checked; }
};

// Operands are of the kernel's majors where memory allows that: where an extent is 1, it is K-major
// and MN-major at once. Kernels that take both get the side whose lines are better aligned.
inline MatmulProblem as_read(const Checked& checked, const ProductFacts& facts) {
  MatmulProblem product = checked.product();
  const ProductField& field = *checked.description().product;
  const auto read = [&](MatmulOperand& operand, unsigned tensor, Major wanted) {
    if (product.k == 0) {  // nothing is read
      operand.major = wanted;
      return;
    }
    if ((!facts.any_layout && operand.major == wanted) || !checked.has_other_side(tensor)) return;
    const TensorLines lines = checked.other_side(tensor);
    const auto alignment = [&](std::int64_t pitch) {
      return alignment_of(operand.data, pitch, lines.batch, operand.batch_pitch, operand.type);
    };
    if (facts.any_layout && alignment(lines.pitch) <= alignment(operand.pitch)) return;
    operand.pitch = lines.pitch;
    operand.major = operand.major == Major::K ? Major::MN : Major::K;
  };
  read(product.a, field.a, facts.config.tiling.a_major);
  read(product.b, field.b, facts.config.tiling.b_major);
  return product;
}

// The product that a kernel computes: the given one, or its transpose, D^T = B A^T, whose rows and
// columns change places. D, C and the auxiliary output keep their strides; a kernel with
// swap_ab takes their lines for columns.
inline MatmulProblem product_of(const Tiling& tiling, MatmulProblem product) {
  if (tiling.swap_ab == 0) return product;
  std::swap(product.m, product.n);
  std::swap(product.a, product.b);
  std::swap(product.epilogue.row_bias, product.epilogue.column_bias);
  std::swap(product.epilogue.row_scale, product.epilogue.column_scale);
  return product;
}

}  // namespace tw
