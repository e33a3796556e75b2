// tcgen05: what the descriptors mean, where accumulators lie in tensor memory, and the numbers of a
// product; without time or checks.
//   d (m x n) = a (m x k) b (k x n) + (accumulate ? d : 0), k = 32 bytes of elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/isa/model/scaled_products.h"
#include "tilewright/isa/ptx/tcgen05_descriptor.h"

namespace tw::vgpu {

// What a block-scaled product reads beside its operands.
struct ProductScales {
  unsigned per_row = 0;  // scales of a row in one instruction: 1, 2 or 4; 0: the product has none
  isa::ScaleFormat format = isa::ScaleFormat::Ue8m0;
  unsigned a_id = 0, b_id = 0;  // the byte of its 32-bit column where a row's first scale lies
};

// An instruction descriptor. In a group of two CTAs, m and n are those of the whole product.
struct TensorProduct {
  MmaKind kind;
  unsigned cta_group;
  unsigned m, n;
  std::uint8_t a_code, b_code;
  isa::OperandMajor a_major, b_major;
  bool negate_a, negate_b;
  ProductScales scales = {};
  bool packed = false;  // two e2m1 share a byte, 32 a piece of 16 bytes

  unsigned rows_per_cta() const { return m / cta_group; }     // rows of A in shared memory
  unsigned columns_per_cta() const { return n / cta_group; }  // rows of B in shared memory
  // Where a CTA holds 64 rows of a product of two CTAs, its lanes 64.. hold columns n / 2...
  unsigned parts() const { return cta_group == 2 && m == 128 ? 2 : 1; }
  unsigned part_columns() const { return n / parts(); }
  // The lane, from the lane of the accumulator's address on, of one of the CTA's rows.
  unsigned lane(unsigned row, unsigned part) const {
    return rows_per_cta() == 64 && parts() == 1 ? row % 16 + row / 16 * 32 : row + 64 * part;
  }
};
unsigned element_bytes(MmaKind kind);  // in shared memory

// Refuses what no instruction does; as unsupported what the model lacks: f16 accumulators,
// saturation and sparsity.
TensorProduct decode_product(MmaKind kind, unsigned cta_group, std::uint32_t instruction);
// Decodes a block-scaled product, whose kind is F8F6F4 then. Unsupported: sparsity, K = 96, and
// pairs with 64 rows in each CTA, whose scales of B lie otherwise.
TensorProduct decode_scaled_product(ScaledMmaKind kind, unsigned cta_group,
                                    std::uint32_t instruction);

// A shared-memory descriptor.
struct OperandPlacement {
  SharedAddress start;  // within the own CTA's window: 18 bits, a multiple of 16
  std::uint32_t leading_bytes;
  std::uint32_t stride_bytes;
  isa::OperandSwizzle swizzle;
};
// Refuses reserved bits and other versions; as unsupported a base offset, an absolute leading
// address, the swizzle of 32-byte atoms, and patterns that are not where the address puts them.
OperandPlacement decode_operand(std::uint64_t descriptor);

// An operand has two 16-byte pieces per row (column of b). K-major: piece 2r + c is the c-th half
// of row r. MN-major: first the pieces of k = 0 along the rows, `pieces_per_k` of them, then those
// of k = 1, and so on.
SharedAddress operand_piece(const OperandPlacement& placement, isa::OperandMajor major,
                            unsigned pieces_per_k, unsigned piece);

struct TensorProductData {
  const std::byte* a[2][256];  // pieces of each CTA
  const std::byte* b[2][512];
  std::uint32_t* d[256][2];  // part_columns() words of each row and part
  // A block-scaled product reads the scales of each row, and those of each column as each CTA has
  // them.
  std::uint8_t a_scales[256][4];
  std::uint8_t b_scales[2][256][4];
};
// Sums in order of k, in float or in 32-bit integers that wrap. Equal to the hardware whenever
// every partial sum is exact, as with small integers.
void multiply(const TensorProduct& product, const TensorProductData& data, bool accumulate);
// (a * a_scale) * (b * b_scale), summed up in double and rounded to float once: exact whenever the
// whole sum is. A product of elements and scales need not be in the range of float.
void multiply_scaled(const TensorProduct& product, const TensorProductData& data, bool accumulate);

}  // namespace tw::vgpu
