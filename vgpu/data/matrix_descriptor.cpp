#include "vgpu/data/matrix_descriptor.h"

#include <fmt/format.h>

#include "tilewright/base/require.h"

namespace tw::vgpu {
namespace {

// [0,14) start, [16,30) leading, [32,46) stride, in units of 16 bytes; [49,52) base offset;
// [62,64) swizzle.
constexpr std::uint64_t owned_bits = 0xc00e'3fff'3fff'3fff;

// The two swizzle bits count the spans downward: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes. So
// does MapSwizzle upward, and 4 - x mod 4 turns one into the other.
constexpr std::uint64_t opposite(std::uint64_t swizzle) { return (4 - swizzle) % 4; }

constexpr std::uint32_t bytes_at(std::uint64_t bits, unsigned shift) {
  return static_cast<std::uint32_t>(bits >> shift & 0x3fff) << 4;
}

std::uint64_t units(std::uint32_t bytes, const char* field) {
  if (bytes % 16 != 0 || bytes >= 1u << 18) {
    throw Refusal(fmt::format("matrix descriptor: {} = {:#x} must be a multiple of 16 below 2^18.",
                              field, bytes));
  }
  return bytes >> 4;
}

// `where` is what else must be so.
[[noreturn]] void refuse_operand(const MatrixDescriptor& descriptor, const std::string& where) {
  if (descriptor.base_offset != 0) {
    throw Refusal(fmt::format("matrix descriptor: unsupported: base offset {}; only 0 is modelled.",
                              descriptor.base_offset));
  }
  throw Refusal(fmt::format(
      "matrix descriptor: unsupported: with a swizzle of {} bytes, {}the stride {} must be a "
      "multiple of {}.",
      swizzle_span(descriptor.swizzle), where, descriptor.stride_bytes,
      8 * swizzle_span(descriptor.swizzle)));
}

}  // namespace

MatrixDescriptor decode_matrix_descriptor(std::uint64_t bits) {
  if ((bits & ~owned_bits) != 0) {
    throw Refusal(fmt::format("matrix descriptor: {:#018x} sets the reserved bits {:#018x}.", bits,
                              bits & ~owned_bits));
  }
  return {bytes_at(bits, 0), bytes_at(bits, 16), bytes_at(bits, 32),
          static_cast<std::uint32_t>(bits >> 49 & 7),
          static_cast<MapSwizzle>(opposite(bits >> 62))};
}

std::uint64_t encode_matrix_descriptor(const MatrixDescriptor& descriptor) {
  if (descriptor.base_offset > 7) {
    throw Refusal(
        fmt::format("matrix descriptor: base offset {} exceeds 7.", descriptor.base_offset));
  }
  return units(descriptor.start, "start") | units(descriptor.leading_bytes, "leading_bytes") << 16 |
         units(descriptor.stride_bytes, "stride_bytes") << 32 |
         std::uint64_t{descriptor.base_offset} << 49 |
         opposite(static_cast<std::uint64_t>(descriptor.swizzle)) << 62;
}

SharedAddress operand_chunk(const MatrixDescriptor& descriptor, unsigned row, unsigned chunk) {
  const std::uint32_t span = swizzle_span(descriptor.swizzle);
  const bool is_swizzled = descriptor.swizzle != MapSwizzle::None;
  const bool misplaced = is_swizzled && descriptor.stride_bytes % (8 * span) != 0;
  if (descriptor.base_offset != 0 || misplaced) refuse_operand(descriptor, "");
  const std::uint32_t chunk_bytes = is_swizzled ? 16 : descriptor.leading_bytes;
  return swizzled(
      descriptor.start + row / 8 * descriptor.stride_bytes + row % 8 * span + chunk * chunk_bytes,
      descriptor.swizzle);
}

SharedAddress transposed_chunk(const MatrixDescriptor& descriptor, unsigned group, unsigned k) {
  if (descriptor.swizzle == MapSwizzle::None) {
    if (descriptor.base_offset != 0) refuse_operand(descriptor, "");
    return descriptor.start + group * descriptor.stride_bytes + k / 8 * descriptor.leading_bytes +
           k % 8 * 16;
  }
  const std::uint32_t span = swizzle_span(descriptor.swizzle), pattern = 8 * span;
  const unsigned chunks = span / 16;
  const bool misplaced = descriptor.start % pattern >= span ||
                         descriptor.stride_bytes % pattern != 0 ||
                         (group >= chunks && descriptor.leading_bytes % pattern != 0);
  if (descriptor.base_offset != 0 || misplaced) {
    refuse_operand(descriptor,
                   fmt::format("the start {:#x} must lie in the first line of a pattern, and ",
                               descriptor.start));
  }
  return swizzled(descriptor.start + group / chunks * descriptor.leading_bytes +
                      group % chunks * 16 + k / 8 * descriptor.stride_bytes + k % 8 * span,
                  descriptor.swizzle);
}

}  // namespace tw::vgpu
