// A problem as one kernel takes it: with the product that the kernel computes, made once. How it is
// launched: in which order, with which workspace.
#pragma once

#include <cstddef>
#include <utility>

#include "tilewright/base/status.h"
#include "tilewright/bind/config.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/product_facts.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// In which order tiles are taken (0 leaves the group to the plan), and in how many parts sums are
// made by kernels that make them in parts.
struct LaunchOrder {
  int group = 0;
  Raster raster = Raster::AlongM;
  int split_k = 1;
  bool stream_k = false;
  bool operator==(const LaunchOrder&) const = default;
};

// A sum of so many parts or more has several that finish a share of its tile each. With fewer
// parts the last one alone is as fast.
inline constexpr int shared_parts = 4;

struct MatmulGrid {
  unsigned ctas;
};

// Memory of the caller's that a launch may use. Tickets and counters lie in its first bytes, never
// anything else: zero before the first launch, and zero again after each, whatever it computes.
inline constexpr std::size_t workspace_counter_bytes = 64 << 10;
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
  void* other_counters = nullptr;  // what is used instead of its first bytes; null: nothing

  void* counters() const { return other_counters != nullptr ? other_counters : data; }
};

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
