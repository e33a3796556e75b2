// Memory that is written overlaps no other, up to spans of 2^58 elements. Columns of one matrix
// side by side do not, nor do matrices of a batch that take turns.
#pragma once

#include "tilewright/launch/checked.h"

namespace tw::library {

// `batch` times `lines` lines of `line` bytes, `batch_pitch` and `pitch` bytes apart.
struct Memory {
  const char* name;
  const void* data;  // null: there is none
  std::int64_t line, lines, pitch, batch, batch_pitch;
};

// A batch whose pitch is 0 has one matrix.
Memory memory_of(const char* name, const void* data, ElementType type, std::int64_t lines,
                 std::int64_t length, std::int64_t pitch, std::int64_t batch = 1,
                 std::int64_t batch_pitch = 0);

Memory vector_of(const char* name, const void* data, ElementType type, std::int64_t length);

// Throws where two tensors overlap of which one is written. In place D is the source, of the same
// type and strides.
void check_apart(const Checked& problem);

}  // namespace tw::library
