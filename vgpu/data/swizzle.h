// The shared-memory swizzles of Hopper. Copy engine and tensor core apply the same exclusive or to
// the bits of the shared ADDRESS, not of an offset in the tile: that is why tiles must be aligned.
#pragma once

#include "tilewright/isa/model.h"

namespace tw::vgpu {

enum class MapSwizzle : std::uint32_t { None, Bytes32, Bytes64, Bytes128 };

// The bytes whose 16-byte chunks change places among themselves; 16 when nothing moves.
constexpr std::uint32_t swizzle_span(MapSwizzle swizzle) {
  return 16u << static_cast<std::uint32_t>(swizzle);
}

// Bits [4, 4+b) ^= bits [7, 7+b) with b = 1, 2, 3 for spans of 32, 64, 128 bytes.
constexpr SharedAddress swizzled(SharedAddress address, MapSwizzle swizzle) {
  return address ^ ((address >> 3) & (swizzle_span(swizzle) - 16));
}

}  // namespace tw::vgpu
