// An operand in shared memory as the tensor cores of Hopper and Blackwell take it: a descriptor,
// made from the tensor's layout, whose low bits are an address in units of 16 bytes.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/major.h"
#include "tilewright/isa/model.h"
#include "tilewright/layout/shared_tile.h"

namespace tw {

// What a descriptor says of a layout: lines of `line_bytes` (32, 64 or 128), swizzled over as many,
// eight of which follow each other; `stride_bytes` to the next eight, K-major of rows, MN-major of
// k; MN-major `leading_bytes` to the next rows.
struct DescribedLayout {
  unsigned line_bytes;
  unsigned stride_bytes;
  unsigned leading_bytes;
};

// What a descriptor says of an operand (row,k,...), in elements of so many bytes, of which an
// instruction reads `rows` by `k`.
constexpr DescribedLayout described(const Layout& operand, Major major, unsigned element_bytes,
                                    std::int64_t rows, std::int64_t k) {
  const Layout bytes = detail::scaled(take(operand, 0, 2), element_bytes);
  const Layout plain = without_swizzle(bytes);
  const Swizzle swizzle = bytes.swizzle;
  require(swizzle.bits >= 1 && swizzle.bits <= 3 && swizzle.base == 4 && swizzle.shift == 3,
          "descriptor: the tensor core swizzles chunks of 16 bytes by the number of their line");
  const bool is_k_major = major == Major::K;
  // Lines are rows of k, or lines of one k; `along` counts inside of them, and beyond.
  const auto at = [&](std::int64_t line, std::int64_t along) {
    return is_k_major ? offset(plain, line, along) : offset(plain, along, line);
  };
  const std::int64_t lines = is_k_major ? rows : k, length = is_k_major ? k : rows;
  const std::int64_t line_bytes = 16 << swizzle.bits, line_length = line_bytes / element_bytes;
  require(!is_k_major || length <= line_length,
          "descriptor: an instruction reads along k no further than a line");
  const std::int64_t stride = at(8, 0), leading = is_k_major ? 16 : at(0, line_length);
  for (std::int64_t line = 0; line < lines; ++line) {
    require(at(line, 0) == line / 8 * stride + line % 8 * line_bytes,
            "descriptor: eight lines must follow each other, and eights lie equally far apart");
  }
  for (std::int64_t along = 0; along < length; along += 16 / element_bytes) {
    require(at(0, along) == along / line_length * leading + along % line_length * element_bytes,
            "descriptor: a line is contiguous, and lines side by side lie equally far apart");
  }
  return {static_cast<unsigned>(line_bytes), static_cast<unsigned>(stride),
          static_cast<unsigned>(leading)};
}

// An operand (row,k,span,stage) in blocks of `rows` by `k`, which one instruction reads each.
template <class Tensor, Major major, unsigned rows, unsigned k>
struct OperandBlocks {
  static_assert(space_of<Tensor> == Space::Window,
                "The tensor core reads operands from shared memory.");
  static constexpr Layout operand = Tensor::tensor_layout();
  static constexpr unsigned element_bytes = sizeof(typename Tensor::Value);
  static constexpr DescribedLayout layout = described(operand, major, element_bytes, rows, k);
  // (row block,k block,span,stage), in units of 16 bytes.
  static constexpr Layout steps =
      upcast(without_swizzle(take(detail::tiled_modes(operand, tiler(rows, k, 1, 1)), 4, 8)),
             16 / element_bytes);

  // The distance from the operand's first block.
  static TW_DEVICE std::uint32_t units(unsigned row_block, unsigned k_block, unsigned span,
                                       unsigned stage) {
    return detail::sum_as<std::uint32_t, steps>(row_block, k_block, span, stage);
  }
};

// The address without the CTA's rank, which stands above it in a cluster, in units of 16 bytes.
TW_DEVICE std::uint32_t in_descriptor(SharedAddress address) { return (address & 0x3FFFF) >> 4; }

}  // namespace tw
