// Whether tensor memory keeps sums as float32: 2^14 and then units, of which those of row r are
// 2^-(r % 10). A float32 has room for all of them, in any order. Where sums have fewer bits, the
// rows of small units tell how many.
#pragma once

#include "tests/conformance/tensor_products.h"

namespace tw::conformance {

// Elements of scaled products are ones: scales make the sums.
template <ScaledMmaKind kind>
Program scaled_sum(const TensorFormat& format, const char* name) {
  std::vector<Program> made;
  add_scaled<kind, 1>(made, format, format, 64);
  Program program = made.front();
  program.name = name;
  const bool is_nvfp4 = kind == ScaledMmaKind::Mxf4nvf4;
  const std::uint32_t one = kind == ScaledMmaKind::Mxf8f6f4 ? 0x38 : 0x22;
  const std::uint32_t one_scale = is_nvfp4 ? 0x38 : 0x7f;
  program.input[0].fill = program.input[1].fill = program.input[3].fill = Fill::Constant;
  program.input[0].seed = program.input[1].seed = one;
  program.input[2].fill = is_nvfp4 ? Fill::LargeScales : Fill::LargeExponents;
  program.input[2].seed = scales_per_row(kind);
  program.input[3].seed = one_scale;
  return program;
}

inline std::vector<Program> list_float_sums() {
  using namespace tensor_format;
  std::vector<Program> programs;
  add_products<MmaKind::F8F6F4, 1>(programs, e4m3, e4m3, {64}, false);
  programs[0].name = "tcgen05_sum_e4m3";
  programs[0].input[0].fill = Fill::LargeRows;
  programs[0].input[1].fill = Fill::LargeColumns;
  programs.push_back(scaled_sum<ScaledMmaKind::Mxf8f6f4>(e4m3, "tcgen05_sum_mxf8f6f4"));
  programs.push_back(scaled_sum<ScaledMmaKind::Mxf4>(e2m1, "tcgen05_sum_mxf4"));
  programs.push_back(scaled_sum<ScaledMmaKind::Mxf4nvf4>(e2m1, "tcgen05_sum_mxf4nvf4"));
  return programs;
}

}  // namespace tw::conformance
