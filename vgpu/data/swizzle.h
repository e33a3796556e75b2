// The shared-memory swizzles of Hopper. Copy engine and tensor core apply the same exclusive or to
// the bits of the shared ADDRESS, not of an offset in the tile: that is why tiles must be aligned.
#pragma once

#include "tilewright/isa/model.h"

namespace tw::vgpu {

// Bytes128Atom32 moves chunks of 32 bytes (CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B).
enum class MapSwizzle : std::uint32_t { None, Bytes32, Bytes64, Bytes128, Bytes128Atom32 };

// The bytes whose chunks change places among themselves; 16 when nothing moves.
constexpr std::uint32_t swizzle_span(MapSwizzle swizzle) {
  return swizzle == MapSwizzle::Bytes128Atom32 ? 128 : 16u << static_cast<std::uint32_t>(swizzle);
}

// Bits [4, 4+b) ^= bits [7, 7+b) with b = 1, 2, 3 for spans of 32, 64, 128 bytes; of chunks of 32
// bytes, bits [5, 7) ^= bits [7, 9).
constexpr SharedAddress swizzled(SharedAddress address, MapSwizzle swizzle) {
  if (swizzle == MapSwizzle::Bytes128Atom32) return address ^ ((address >> 2) & 0x60);
  return address ^ ((address >> 3) & (swizzle_span(swizzle) - 16));
}

}  // namespace tw::vgpu
