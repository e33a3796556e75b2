#include "src/library/blockwise_scales.h"

#include "src/library/convert.h"
#include "src/library/failure.h"

namespace tw::library {

ScaleTensor scales_of(const std::string& name, const tw_scales& given, std::int64_t batch) {
  const bool by_k = given.k_blocks <= 1 || given.k_stride == 1;
  if (!by_k && given.rows > 1 && given.row_stride != 1) {
    throw Failure{TW_INVALID,
                  fmt::format("The {} have a row_stride of {} and a k_stride of {}, but one of "
                              "them must be 1.",
                              name, given.row_stride, given.k_stride)};
  }
  const std::int64_t lines = by_k ? given.rows : given.k_blocks;
  const std::int64_t length = by_k ? given.k_blocks : given.rows;
  ScaleTensor scales;
  scales.tensor = {given.data, lines > 1 ? (by_k ? given.row_stride : given.k_stride) : length,
                   batch > 1 ? given.batch_stride : 0, type_of(("the " + name).c_str(), given.type),
                   by_k ? Major::K : Major::MN};
  check_span(("The memory of the " + name).c_str(), lines, scales.tensor.pitch, batch,
             scales.tensor.batch_pitch);
  scales.rows = given.rows;
  scales.k_blocks = given.k_blocks;
  return scales;
}

void add_scales(Touched& touched, const ScaleTensor& a, const ScaleTensor& b, std::int64_t batch) {
  const auto add = [&](const char* name, const ScaleTensor& scales) {
    const auto& [data, pitch, batch_pitch, type, major] = scales.tensor;
    const bool by_k = major == Major::K;
    touched.reads(memory_of(name, data, type, by_k ? scales.rows : scales.k_blocks,
                            by_k ? scales.k_blocks : scales.rows, pitch, batch, batch_pitch));
  };
  add("the scales of A", a);
  add("the scales of B", b);
}

}  // namespace tw::library
