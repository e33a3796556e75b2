// Sums of one product as A of the next: 16 or 8 bits of each in the registers that wgmma takes.
#pragma once

#include <cstdint>

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/convert.h"
#include "tilewright/isa/describe.h"
#include "tilewright/number/element_type.h"

namespace tw {

// 64 rows by `columns`, of one warpgroup. A thread's value i of the sums stands where half i % 2 of
// register i / 2 of A does, so that nothing changes lanes. Of 8 bits, A has four columns in a
// register where a thread's sums have two and the two that lie eight behind: B's rows are in that
// order (ByteTranspose). While a product that reads the registers is in flight they belong to the
// tensor core.
template <unsigned columns, ElementType type = ElementType::Bf16>
class PackedRows {
  static constexpr unsigned step_columns = 32 / bytes_of(type);
  static_assert(columns % step_columns == 0, "A product takes 32 bytes of columns of A at a time.");

 public:
  static constexpr unsigned steps = columns / step_columns;
  // Weights are at most 2 to this: e4m3 then has digits for such as are small beside the largest.
  static constexpr int exponent = type == ElementType::E4m3 ? 8 : 0;

  TW_DEVICE PackedRows() {}
  PackedRows(const PackedRows&) = delete;
  PackedRows& operator=(const PackedRows&) = delete;

  // The registers of one product's columns.
  TW_DEVICE std::uint32_t (&registers(unsigned step))[4] { return registers_[step]; }

  // Rounds the values of a thread; no product may be reading the registers.
  TW_DEVICE void take(const float (&values)[columns / 2]) {
    isa::fragment_access(registers_, 4 * steps);
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      TW_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        if constexpr (type == ElementType::E4m3) {
          const float* const pair = values + 16 * step + i / 2 * 8 + i % 2 * 2;
          registers_[step][i] = isa::cvt_e4m3x2(pair[0], pair[1]) |
                                std::uint32_t{isa::cvt_e4m3x2(pair[4], pair[5])} << 16;
        } else {
          const float* const pair = values + 8 * step + 2 * i;
          registers_[step][i] = type == ElementType::Bf16 ? isa::cvt_bf16x2(pair[0], pair[1])
                                                          : isa::cvt_f16x2(pair[0], pair[1]);
        }
      }
    }
  }

 private:
  std::uint32_t registers_[steps][4];
};

}  // namespace tw
