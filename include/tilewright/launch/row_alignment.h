// Where rows must begin, for kernels that load 16 bytes at a time.
#pragma once

#include <initializer_list>

#include "tilewright/launch/checked.h"

namespace tw {

// Refuses the first of these tensors whose rows do not begin at multiples of 16 bytes.
inline Status rows_begin_at_16_bytes(const Checked& checked,
                                     std::initializer_list<unsigned> tensors) {
  for (const unsigned i : tensors) {
    const TensorLines& lines = checked.tensor(i);
    if (alignment_of(lines.data, lines.pitch, 1, 0, lines.type) == 16) continue;
    return Status::refused(sentence("Rows of {} (pitch {}) must begin at multiples of 16 bytes.",
                                    checked.description().tensors[i].title, lines.pitch));
  }
  return Status::good();
}

}  // namespace tw
