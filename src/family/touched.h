// The global memory that a kernel may touch, as the virtual GPU wants to know it.
#pragma once

#include <vector>

#include "tilewright/host/checked.h"
#include "vgpu/machine/machine.h"

namespace tw {

inline std::vector<vgpu::GlobalRange> touched_by(const Checked& problem) {
  std::vector<vgpu::GlobalRange> ranges;
  const std::span<const TensorField> tensors = problem.description().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorLines& lines = problem.tensor(i);
    if (lines.data == nullptr) continue;
    const bool written = tensors[i].flow == TensorField::Flow::Written;
    ranges.push_back({lines.data, lines.bytes(), tensors[i].name, !written, written});
  }
  return ranges;
}

}  // namespace tw
