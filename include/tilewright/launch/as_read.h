// A product as one kernel reads it: where an extent is 1, memory is K-major and MN-major at once.
#pragma once

#include "tilewright/launch/checked.h"
#include "tilewright/launch/product_facts.h"

namespace tw {

// Operands are of the kernel's majors where memory allows that. Kernels that take both get the
// side whose lines are better aligned.
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

}  // namespace tw
