// Memory that is written overlaps no other, up to spans of 2^58 elements. Columns of one matrix
// side by side do not, nor do matrices of a batch that take turns.
#pragma once

#include <array>
#include <cstddef>

#include "tilewright/launch/matmul_problem.h"

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

inline Memory vector_of(const char* name, const void* data, ElementType type, std::int64_t length) {
  return memory_of(name, data, type, 1, length, length);
}

// What a call touches: room for what the largest of them does.
class Touched {
 public:
  void reads(const Memory& memory) { add(read_, reads_, memory); }
  void writes(const Memory& memory) { add(written_, writes_, memory); }
  // Throws a Failure with the names of two that overlap.
  void check_apart() const;

 private:
  using List = std::array<Memory, 12>;
  static void add(List& list, std::size_t& count, const Memory& memory) {
    if (memory.data != nullptr && memory.line > 0 && memory.lines > 0 && memory.batch > 0) {
      list[count++] = memory;
    }
  }
  List read_, written_;  // only counted entries are set: small kernels pay for each byte
  std::size_t reads_ = 0, writes_ = 0;
};

// All that the epilogue of an m by n product touches, and D; in place D is the source, of the same
// type and strides.
void add_outputs(Touched& touched, const MatmulProblem& problem);

}  // namespace tw::library
