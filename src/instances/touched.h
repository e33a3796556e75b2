// The global memory that a kernel may touch, as the virtual GPU wants to know it.
#pragma once

#include <vector>

#include "tilewright/launch/checked.h"
#include "vgpu/simulate.h"

namespace tw {

inline std::vector<vgpu::GlobalRange> touched_by(const Checked& problem) {
  std::vector<vgpu::GlobalRange> ranges;
  const Description& description = problem.description();
  const ProductField* const product = description.product;
  for (std::size_t i = 0; i < description.tensors.size(); ++i) {
    const TensorField& tensor = description.tensors[i];
    const TensorLines& lines = problem.tensor(i);
    if (lines.data == nullptr || (product != nullptr && i == product->d)) continue;
    const bool written = tensor.flow == TensorField::Flow::Written;
    const bool constant = tensor.constant != nullptr && tensor.constant(problem.problem());
    ranges.push_back({lines.data, lines.bytes(), tensor.title, !written, written, constant});
  }
  return product == nullptr ? ranges : TouchedMemory(ranges, problem.product()).ranges();
}

// Adds the record that a kernel compiled with tracing writes.
inline void add_trace(std::vector<vgpu::GlobalRange>& ranges, const TraceBuffer& trace,
                      std::size_t tracks) {
  if (trace.events == nullptr) return;
  ranges.push_back({trace.events, tracks * trace.capacity * sizeof(TraceEvent), "trace", false});
  ranges.push_back({trace.counts, tracks * sizeof(std::uint32_t), "trace counts", true});
}

}  // namespace tw
