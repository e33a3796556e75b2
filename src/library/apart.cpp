#include "src/library/apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/library/failure.h"

namespace tw::library {

namespace {

// From the first byte of one matrix to its last; and of all of them.
std::int64_t matrix_bytes(const Memory& memory) {
  return (memory.lines - 1) * memory.pitch + memory.line;
}
std::int64_t span(const Memory& memory) {
  return (memory.batch - 1) * memory.batch_pitch + matrix_bytes(memory);
}

// Whether two that repeat every `period` bytes, `own` and `other` bytes long, the second beginning
// `offset` behind the first, never meet.
bool alternate(std::int64_t offset, std::int64_t own, std::int64_t other, std::int64_t period) {
  if (period <= 0) return false;
  const std::int64_t place = (offset % period + period) % period;
  return place >= own && place + other <= period;
}

bool lines_are_evenly_apart(const Memory& memory) {
  return memory.batch == 1 || (memory.pitch > 0 && memory.batch_pitch % memory.pitch == 0);
}

std::int64_t distance(const Memory& from, const Memory& to) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to.data) -
                                   reinterpret_cast<std::uintptr_t>(from.data));
}

bool overlap(const Memory& one, const Memory& other) {
  const std::int64_t offset = distance(one, other);
  if (offset >= 0 ? offset >= span(one) : -offset >= span(other)) return false;
  if (one.batch_pitch == other.batch_pitch &&
      alternate(offset, matrix_bytes(one), matrix_bytes(other), one.batch_pitch)) {
    return false;
  }
  return !(one.pitch == other.pitch && lines_are_evenly_apart(one) &&
           lines_are_evenly_apart(other) && alternate(offset, one.line, other.line, one.pitch));
}

void refuse_overlap(const Memory& written, const Memory& other) {
  if (!overlap(written, other)) return;
  const std::int64_t offset = distance(other, written);
  std::string subject = written.name;
  if (subject.starts_with("the ")) subject[0] = 'T';
  std::string where = "begins where", what = " does,";
  if (offset != 0) {
    where = fmt::format("begins {} bytes {}", offset > 0 ? offset : -offset,
                        offset > 0 ? "behind" : "before");
    what = " and overlaps it,";
  }
  throw Failure{TW_INVALID, fmt::format("{} {} {}{} but must have memory of its own.", subject,
                                        where, other.name, what)};
}

// What a call touches: room for what the largest of them does.
class Touched {
 public:
  void reads(const Memory& memory) { add(read_, reads_, memory); }
  void writes(const Memory& memory) { add(written_, writes_, memory); }
  // Throws a Failure with the names of two that overlap.
  void check_apart() const {
    for (std::size_t i = 0; i < writes_; ++i) {
      for (std::size_t j = 0; j < reads_; ++j) refuse_overlap(written_[i], read_[j]);
      for (std::size_t j = 0; j < i; ++j) refuse_overlap(written_[i], written_[j]);
    }
  }

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

// All that the epilogue of an m by n product touches, and D, whose lines may be shorter than sums
// by what a family does to these.
void add_outputs(Touched& touched, const MatmulProblem& problem, std::int64_t length_of_d) {
  const EpilogueArguments& epilogue = problem.epilogue;
  const std::int64_t m = problem.m, n = problem.n, batch = problem.batch;
  const std::int64_t columns = std::min(epilogue.gated ? n / 2 : n, length_of_d);
  touched.writes(memory_of("D", problem.d.data, problem.d.type, m, columns, problem.d.pitch, batch,
                           problem.d.batch_pitch));
  touched.writes(memory_of("the auxiliary output", epilogue.auxiliary, epilogue.auxiliary_type, m,
                           n, epilogue.auxiliary_pitch, batch, epilogue.auxiliary_batch_pitch));
  touched.writes(vector_of("amax", epilogue.amax, ElementType::Fp32, 1));
  const bool in_place = epilogue.source == problem.d.data;
  if (epilogue.beta != 0.0f && !in_place) {
    touched.reads(memory_of("the source", epilogue.source, epilogue.source_type, m, columns,
                            epilogue.source_pitch, batch, epilogue.source_batch_pitch));
  }
  touched.reads(vector_of("the column bias", epilogue.column_bias, epilogue.bias_type, n));
  touched.reads(vector_of("the row bias", epilogue.row_bias, epilogue.bias_type, m));
  touched.reads(vector_of("the column scale", epilogue.column_scale, ElementType::Fp32, n));
  touched.reads(vector_of("the row scale", epilogue.row_scale, ElementType::Fp32, m));
  if (in_place && epilogue.source != nullptr && epilogue.beta != 0.0f &&
      (epilogue.source_type != problem.d.type ||
       (m > 1 && epilogue.source_pitch != problem.d.pitch) ||
       (batch > 1 && epilogue.source_batch_pitch != problem.d.batch_pitch))) {
    throw Failure{TW_INVALID,
                  "The source begins where D does, but has another type or other strides."};
  }
}

}  // namespace

Memory memory_of(const char* name, const void* data, ElementType type, std::int64_t lines,
                 std::int64_t length, std::int64_t pitch, std::int64_t batch,
                 std::int64_t batch_pitch) {
  const auto bytes = [bits = std::int64_t{bits_in(type)}](std::int64_t elements) {
    return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
  };
  const std::int64_t step = bytes(lines > 1 ? pitch : length), count = batch_pitch == 0 ? 1 : batch;
  return {name, data, bytes(length), lines, step, count, bytes(batch_pitch)};
}

Memory vector_of(const char* name, const void* data, ElementType type, std::int64_t length) {
  return memory_of(name, data, type, 1, length, length);
}

void check_apart(const Checked& problem) {
  const Description& description = problem.description();
  Touched touched;
  for (std::size_t i = 0; i < description.tensors.size(); ++i) {
    const TensorField& tensor = description.tensors[i];
    const TensorLines& lines = problem.tensor(i);
    if (description.product != nullptr && i == description.product->d) continue;
    const Memory memory =
        memory_of(tensor.one != nullptr ? tensor.one : tensor.title, lines.data, lines.type,
                  lines.lines, lines.length, lines.pitch, lines.batch, lines.batch_pitch);
    const bool is_read = tensor.flow == TensorField::Flow::Read;
    is_read ? touched.reads(memory) : touched.writes(memory);
  }
  if (description.product != nullptr && !problem.is_empty()) {
    add_outputs(touched, problem.product(), problem.tensor(description.product->d).length);
  }
  touched.check_apart();
}

}  // namespace tw::library
