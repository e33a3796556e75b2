// Sums of one product as A of the next: pairs of 16 bits in the registers that wgmma takes.
#pragma once

#include <cstdint>

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/convert.h"
#include "tilewright/isa/describe.h"
#include "tilewright/number/element_type.h"

namespace tw {

// 64 rows by `columns`, of one warpgroup. A thread's value i of the sums stands where half i % 2 of
// register i / 2 of A does, so that nothing changes lanes. While a product that reads the registers
// is in flight they belong to the tensor core.
template <unsigned columns, ElementType type = ElementType::Bf16>
class PackedRows {
  static_assert(columns % 16 == 0, "A product takes 16 columns of A at a time.");

 public:
  static constexpr unsigned steps = columns / 16;

  TW_DEVICE PackedRows() {}
  PackedRows(const PackedRows&) = delete;
  PackedRows& operator=(const PackedRows&) = delete;

  // The registers of columns 16 `step` to 16 `step` + 15.
  TW_DEVICE std::uint32_t (&registers(unsigned step))[4] { return registers_[step]; }

  // Rounds the values of a thread; no product may be reading the registers.
  TW_DEVICE void take(const float (&values)[columns / 2]) {
    isa::fragment_access(registers_, 4 * steps);
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      TW_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        const float* const pair = values + 8 * step + 2 * i;
        registers_[step][i] = type == ElementType::Bf16 ? isa::cvt_bf16x2(pair[0], pair[1])
                                                        : isa::cvt_f16x2(pair[0], pair[1]);
      }
    }
  }

 private:
  std::uint32_t registers_[steps][4];
};

}  // namespace tw
