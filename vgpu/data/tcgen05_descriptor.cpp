#include <fmt/format.h>

#include "tilewright/base/require.h"
#include "vgpu/data/swizzle.h"
#include "vgpu/data/tcgen05.h"

namespace tw::vgpu {
namespace {

using isa::OperandMajor;
using isa::OperandSwizzle;

MapSwizzle map_swizzle(OperandSwizzle swizzle) {
  switch (swizzle) {
    case OperandSwizzle::Bytes32: return MapSwizzle::Bytes32;
    case OperandSwizzle::Bytes64: return MapSwizzle::Bytes64;
    case OperandSwizzle::Bytes128: return MapSwizzle::Bytes128;
    case OperandSwizzle::None: break;
  }
  return MapSwizzle::None;
}

std::uint32_t field(std::uint64_t bits, unsigned begin, unsigned count) {
  return static_cast<std::uint32_t>(bits >> begin & ((std::uint64_t{1} << count) - 1));
}

bool is_format(MmaKind kind, unsigned code) {
  switch (kind) {
    case MmaKind::F16:
    case MmaKind::I8: return code <= 1;
    case MmaKind::Tf32: return code == 2;
    case MmaKind::F8F6F4: return code <= 5 && code != 2;
  }
  return false;
}

void check_shape(const TensorProduct& product) {
  const unsigned m = product.m, n = product.n;
  const bool pair = product.cta_group == 2;
  const bool m_fits = pair ? m == 128 || m == 256 : m == 64 || m == 128;
  // Two CTAs share the columns of b; 8-bit integers come in wider steps.
  unsigned step = pair ? 32 : m == 128 ? 16 : 8;
  if (product.kind == MmaKind::I8 && n != 8) step = step < 16 ? 16 : step;
  if (m_fits && n >= step && n <= 256 && n % step == 0) return;
  throw Refusal(fmt::format(
      "tcgen05.mma: no product of {} x {} by {} CTA{}: m is {}, n a multiple of {} up "
      "to 256.",
      m, n, product.cta_group, pair ? "s" : "", pair ? "128 or 256" : "64 or 128", step));
}

void check_major(const TensorProduct& product, OperandMajor major, unsigned code, unsigned rows) {
  if (major == OperandMajor::K) return;
  if (product.kind == MmaKind::Tf32) {
    throw Refusal(
        "tcgen05.mma: unsupported: MN-major tf32, which needs swizzles of 32-byte atoms.");
  }
  if (product.kind == MmaKind::F8F6F4 && code >= 3) {
    throw Refusal("tcgen05.mma: operands of 4 and 6 bits are K-major.");
  }
  if (rows % (16 / element_bytes(product.kind)) != 0) {
    throw Refusal(
        fmt::format("tcgen05.mma: {} MN-major rows do not fill pieces of 16 bytes.", rows));
  }
}

}  // namespace

unsigned element_bytes(MmaKind kind) {
  return kind == MmaKind::F16 ? 2 : kind == MmaKind::Tf32 ? 4 : 1;
}

TensorProduct decode_product(MmaKind kind, unsigned cta_group, std::uint32_t bits) {
  const TensorProduct product{kind,
                              cta_group,
                              field(bits, 24, 5) << 4,
                              field(bits, 17, 6) << 3,
                              static_cast<std::uint8_t>(field(bits, 7, 3)),
                              static_cast<std::uint8_t>(field(bits, 10, 3)),
                              static_cast<OperandMajor>(field(bits, 15, 1)),
                              static_cast<OperandMajor>(field(bits, 16, 1)),
                              field(bits, 13, 1) != 0,
                              field(bits, 14, 1) != 0};
  // 6, 23, 29 are reserved; [30,32) belongs to products with stationary weights.
  if ((bits & 0xE080'0040) != 0) {
    throw Refusal(
        fmt::format("tcgen05.mma: the instruction descriptor {:#x} sets reserved bits {:#x}.", bits,
                    bits & 0xE080'0040));
  }
  if ((bits & 0xF) != 0) {
    throw Refusal(fmt::format(
        "tcgen05.mma: unsupported: sparsity or saturation in the instruction descriptor {:#x}.",
        bits));
  }
  if (!is_format(kind, product.a_code) || !is_format(kind, product.b_code)) {
    throw Refusal(fmt::format("tcgen05.mma: formats {} and {} do not belong to its kind.",
                              product.a_code, product.b_code));
  }
  const unsigned accumulator = field(bits, 4, 2);
  const unsigned natural = kind == MmaKind::I8 ? 2 : 1;
  if (accumulator == 0 && (kind == MmaKind::F16 || kind == MmaKind::F8F6F4)) {
    throw Refusal("tcgen05.mma: unsupported: f16 accumulators.");
  }
  if (accumulator != natural || (kind == MmaKind::I8 && (product.negate_a || product.negate_b))) {
    throw Refusal(
        fmt::format("tcgen05.mma: accumulator format {} or a negation does not belong to its kind.",
                    accumulator));
  }
  check_shape(product);
  check_major(product, product.a_major, product.a_code, product.rows_per_cta());
  check_major(product, product.b_major, product.b_code, product.columns_per_cta());
  return product;
}

TensorProduct decode_scaled_product(ScaledMmaKind kind, unsigned cta_group, std::uint32_t bits) {
  const bool packed = kind != ScaledMmaKind::Mxf8f6f4;
  constexpr std::uint8_t e2m1 = isa::mma_format::e2m1.code;
  const std::uint32_t a_code = field(bits, 7, 3), b_code = field(bits, 10, packed ? 2 : 3);
  TensorProduct product{MmaKind::F8F6F4,
                        cta_group,
                        field(bits, 27, 2) << 7,
                        field(bits, 17, 6) << 3,
                        packed ? e2m1 : static_cast<std::uint8_t>(a_code),
                        packed ? e2m1 : static_cast<std::uint8_t>(b_code),
                        static_cast<OperandMajor>(field(bits, 15, 1)),
                        static_cast<OperandMajor>(field(bits, 16, 1)),
                        field(bits, 13, 1) != 0,
                        field(bits, 14, 1) != 0};
  product.packed = packed;
  product.scales = {scales_per_row(kind), static_cast<isa::ScaleFormat>(field(bits, 23, 1)),
                    field(bits, 29, 2), field(bits, 4, 2)};
  const std::uint32_t reserved = packed ? 0x0700'104B : 0x0700'004B;
  if ((bits & reserved) != 0) {
    throw Refusal(fmt::format(
        "tcgen05.mma: the block-scaled instruction descriptor {:#x} sets reserved bits {:#x}.",
        bits, bits & reserved));
  }
  if (field(bits, 2, 1) != 0 || field(bits, 31, 1) != 0) {
    throw Refusal(fmt::format(
        "tcgen05.mma: unsupported: sparsity or K = 96 in the instruction descriptor {:#x}.", bits));
  }
  const bool formats_fit =
      packed ? a_code == 1 && b_code == 1
             : is_format(MmaKind::F8F6F4, a_code) && is_format(MmaKind::F8F6F4, b_code);
  if (!formats_fit) {
    throw Refusal(
        fmt::format("tcgen05.mma: formats {} and {} do not belong to its kind.", a_code, b_code));
  }
  const ProductScales& scales = product.scales;
  if (kind != ScaledMmaKind::Mxf4nvf4 && scales.format != isa::ScaleFormat::Ue8m0) {
    throw Refusal("tcgen05.mma: only the kind mxf4nvf4 takes scales of ue4m3.");
  }
  if (scales.a_id % scales.per_row != 0 || scales.b_id % scales.per_row != 0) {
    throw Refusal(fmt::format(
        "tcgen05.mma: {} scales of a row begin at bytes {} and {} of their column; they must begin "
        "at a multiple of {}.",
        scales.per_row, scales.a_id, scales.b_id, scales.per_row));
  }
  const unsigned m = product.m, n = product.n, step = 8 * cta_group;
  if (cta_group == 2 && m == 128) {
    throw Refusal("tcgen05.mma: unsupported: block-scaled products with 64 rows in each CTA.");
  }
  if (m != 128 * cta_group || n < step || n > 256 || n % step != 0) {
    throw Refusal(fmt::format(
        "tcgen05.mma: no block-scaled product of {} x {} by {} CTA{}: m is {}, n a multiple of {} "
        "up to 256.",
        m, n, cta_group, cta_group == 2 ? "s" : "", 128 * cta_group, step));
  }
  if (packed && (product.a_major != OperandMajor::K || product.b_major != OperandMajor::K)) {
    throw Refusal("tcgen05.mma: operands of the kinds mxf4 and mxf4nvf4 are K-major.");
  }
  check_major(product, product.a_major, product.a_code, product.rows_per_cta());
  check_major(product, product.b_major, product.b_code, product.columns_per_cta());
  return product;
}

OperandPlacement decode_operand(std::uint64_t bits) {
  constexpr std::uint64_t reserved = 0x1FE1'C000'C000'C000;  // with the version's bits
  constexpr std::uint64_t version_one = std::uint64_t{1} << 46;
  if ((bits & reserved) != version_one) {
    throw Refusal(fmt::format(
        "tcgen05 descriptor: {:#018x} must have version 1 in bits 46 to 48 and no reserved bits.",
        bits));
  }
  const std::uint32_t swizzle = field(bits, 61, 3);
  if (swizzle == 1 || field(bits, 49, 4) != 0) {
    throw Refusal(
        fmt::format("tcgen05 descriptor: unsupported: {:#018x} has a base offset, an "
                    "absolute leading address, or a swizzle of 32-byte atoms.",
                    bits));
  }
  if (swizzle % 2 != 0) {
    throw Refusal(fmt::format("tcgen05 descriptor: there is no swizzle {}.", swizzle));
  }
  const OperandPlacement placement{field(bits, 0, 14) << 4, field(bits, 16, 14) << 4,
                                   field(bits, 32, 14) << 4, static_cast<OperandSwizzle>(swizzle)};
  const unsigned span = isa::span_of(placement.swizzle);
  if (span > 16 &&
      (placement.start % (8 * span) >= span || placement.stride_bytes % (8 * span) != 0)) {
    throw Refusal(fmt::format(
        "tcgen05 descriptor: unsupported: with a swizzle of {0} bytes, the start {1:#x} must lie "
        "in "
        "the first row of a {2}-byte pattern, and the stride {3} must be a multiple of {2}.",
        span, placement.start, 8 * span, placement.stride_bytes));
  }
  return placement;
}

SharedAddress operand_piece(const OperandPlacement& placement, OperandMajor major,
                            unsigned pieces_per_k, unsigned piece) {
  const unsigned span = isa::span_of(placement.swizzle);
  const bool swizzles = span > 16;
  std::uint32_t offset;
  if (major == OperandMajor::K) {
    const unsigned row = piece / 2, half = piece % 2;
    offset = row / 8 * placement.stride_bytes + row % 8 * span +
             half * (swizzles ? 16 : placement.leading_bytes);
  } else {
    const unsigned k = piece / pieces_per_k, along = piece % pieces_per_k;
    const unsigned in_span = along % (span / 16), spans = along / (span / 16);
    const std::uint32_t next_span = swizzles ? placement.leading_bytes : placement.stride_bytes;
    const std::uint32_t next_k = swizzles ? placement.stride_bytes : placement.leading_bytes;
    offset = in_span * 16 + spans * next_span + k % 8 * span + k / 8 * next_k;
  }
  return swizzled(placement.start + offset, map_swizzle(placement.swizzle));
}

}  // namespace tw::vgpu
