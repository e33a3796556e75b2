// Block scales in cases: their types, their numbers, and elements times them.
#pragma once

#include "src/verify/case.h"
#include "tilewright/number/scale_blocks.h"
#include "tilewright/number/ue8m0.h"
#include "tilewright/scale_type.h"

namespace tw {

// Types of a kernel that takes any elements with any scales. `Problem` has a tw_matmul_problem
// `matmul` and a tw_scale_type `scale`.
template <class Problem>
void random_block_types(Problem& problem, Random& random) {
  constexpr tw_type types[] = {TW_E4M3, TW_E5M2, TW_E2M1, TW_E2M3, TW_E3M2};
  problem.scale = random() % 4 == 0 ? TW_UE4M3 : TW_UE8M0;
  const bool nvfp4 = problem.scale == TW_UE4M3;
  problem.matmul.a.type = nvfp4 ? TW_E2M1 : types[random() % 5];
  problem.matmul.b.type = nvfp4 ? TW_E2M1 : types[random() % 5];
}

// One scale of a row. Those of integers are integers.
inline std::uint8_t random_scale(ScaleType type, Fill fill, Random& random) {
  const auto drawn = static_cast<unsigned>(random() >> 32);
  if (type == ScaleType::Ue4m3) {
    return static_cast<std::uint8_t>(
        fill == Fill::Normal ? drawn % 0x7F : Ue4m3(static_cast<float>(1 + drawn % 8)).bits);
  }
  return static_cast<std::uint8_t>(fill == Fill::Normal ? 119 + drawn % 16 : 127 + drawn % 4);
}

// All bytes of the blocks, also those of no row and of no k: they may be anything but NaN.
inline void fill_blocks(HostMatrix& blocks, ScaleType type, Fill fill, Random& random) {
  for (std::int64_t row = 0; row < blocks.rows && blocks.exists(); ++row) {
    for (std::int64_t column = 0; column < blocks.columns; ++column) {
      blocks.set_code(blocks.index(0, row, column), random_scale(type, fill, random));
    }
  }
}

// The elements times their scales: float32 holds them. A shared matrix has scales for each use.
// `by_columns`: k goes along rows.
inline HostMatrix scaled(const HostMatrix& elements, const HostMatrix& blocks, std::int64_t batches,
                         ScaleType type, bool by_columns = false) {
  const ScaleExtent extent = by_columns ? ScaleExtent::of(elements.columns, elements.rows, type)
                                        : ScaleExtent::of(elements.rows, elements.columns, type);
  HostMatrix values(ElementType::Fp32, Major::K, batches, elements.rows, elements.columns, false);
  values.allocate();
  values.fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) {
    const std::int64_t line = by_columns ? column : row, k = by_columns ? row : column;
    const std::int64_t at = batch * extent.bytes() + extent.place(line, k / block_of(type));
    const auto code = static_cast<std::uint8_t>(
        blocks.code(blocks.index(0, at / blocks.columns, at % blocks.columns)));
    const auto scale = type == ScaleType::Ue8m0 ? static_cast<float>(Ue8m0::from_bits(code))
                                                : static_cast<float>(Ue4m3::from_bits(code));
    return elements.at(elements.batch > 1 ? batch : 0, row, column) * scale;
  });
  return values;
}

}  // namespace tw
