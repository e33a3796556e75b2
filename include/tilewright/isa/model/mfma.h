// What the virtual GPU must implement for isa/amdgcn/mfma.h.
#pragma once

#include "tilewright/isa/model.h"

namespace tw {

// The element types that mfma multiplies. CDNA3 reads 8-bit floats as fnuz, CDNA4 as OCP: the
// instructions have the same names. The sum of S8 is s32, the others' is f32.
// Those of fewer than 8 bits are for products with block scales.
enum class MfmaType : std::uint8_t {
  Bf16,
  F16,
  E4m3,
  E5m2,
  E4m3Fnuz,
  E5m2Fnuz,
  S8,
  E2m3,
  E3m2,
  E2m1
};

constexpr unsigned bits_in(MfmaType type) {
  switch (type) {
    case MfmaType::Bf16:
    case MfmaType::F16: return 16;
    case MfmaType::E2m3:
    case MfmaType::E3m2: return 6;
    case MfmaType::E2m1: return 4;
    default: return 8;
  }
}
constexpr unsigned bytes_of(MfmaType type) { return bits_in(type) == 16 ? 2 : 1; }

// d += a b by one wave of 64 lanes: `rows` x `rows`, over k. In lane l, where e counts the elements
// of its operand and r the registers of its sums:
//   a     row l % rows, b column l % rows,  k = elements() * (l / rows) + e
//                                           k = 16 (l / 16) + e % 16 + 64 (e / 16) where k = 128
//   d     column l % rows,  row 8 (r / 4) + 4 (l / 32) + r % 4 where rows = 32,
//                           row 4 (l / 16) + r                 where rows = 16
struct MfmaShape {
  MfmaType a = MfmaType::Bf16;
  MfmaType b = MfmaType::Bf16;
  unsigned rows = 16;
  unsigned k = 16;

  static constexpr unsigned lanes = 64;
  constexpr unsigned elements() const { return k * rows / lanes; }
  constexpr unsigned registers() const { return elements() * bytes_of(a) / 4; }  // for A, and for B
  constexpr unsigned sums() const { return rows * rows / lanes; }

  constexpr unsigned k_of(unsigned lane, unsigned element) const {
    if (k == 128) return 16 * (lane / rows) + element % 16 + 64 * (element / 16);
    return elements() * (lane / rows) + element;
  }
  constexpr unsigned sum_row(unsigned lane, unsigned sum) const {
    return rows == 16 ? 4 * (lane / 16) + sum : 8 * (sum / 4) + 4 * (lane / 32) + sum % 4;
  }

  // The products that CDNA3 has; CDNA4 has them all, those of twice the k for 16-bit types, and of
  // 128 of k for 8-bit floats.
  constexpr bool is_legal() const {
    const auto is_ocp = [](MfmaType type) {
      return type == MfmaType::E4m3 || type == MfmaType::E5m2;
    };
    const auto is_fnuz = [](MfmaType type) {
      return type == MfmaType::E4m3Fnuz || type == MfmaType::E5m2Fnuz;
    };
    if (a != b && !(is_ocp(a) && is_ocp(b)) && !(is_fnuz(a) && is_fnuz(b))) return false;
    if (rows != 16 && rows != 32) return false;
    if (bits_in(a) < 8) return false;
    if (k == 128) return rows == 16 && is_ocp(a);
    const unsigned least = rows == 16 ? 16 : 8;
    return bytes_of(a) == 1 ? k == 2 * least : k == least || k == 2 * least;
  }
};

}  // namespace tw

#if TW_MODELLED
namespace tw::model {

// `d` is as many floats, or s32 for S8, as shape.sums() says.
void mfma(const MfmaShape& shape, void* d, const std::uint32_t* a, const std::uint32_t* b);

}  // namespace tw::model
#endif
