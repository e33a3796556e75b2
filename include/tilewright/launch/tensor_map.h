// What a TMA descriptor of a batch of matrices, or of a batch of images, says before it is encoded
// for a GPU or the virtual GPU.
#pragma once

#include <cstdint>

#include "tilewright/isa/model.h"
#include "tilewright/number/element_type.h"

namespace tw {

// Shared memory as the copies write or read it: a span is 16 << swizzle bytes.
enum class BoxSwizzle : unsigned { None, Bytes32, Bytes64, Bytes128 };
constexpr BoxSwizzle swizzle_of_rows(unsigned bytes) {
  return bytes == 128 ? BoxSwizzle::Bytes128 : BoxSwizzle::Bytes64;
}

// A tensor of rank 3 (inner, outer, batch), contiguous along `inner`, and the box that one copy
// moves: box_inner by box_outer of box_batch matrices. Extents count elements and are at least 1;
// pitches count bytes and are multiples of 16. A batch pitch of 0 shows every matrix of the batch
// the same memory; that of one matrix is never used, and descriptors then have a legal one.
// Elements of fewer than 8 bits are packed there, and a byte each in shared memory: `inner` is a
// multiple of 128 then, and box_inner 128.
struct MatrixBox {
  const void* base = nullptr;
  ElementType type = ElementType::Bf16;
  std::int64_t inner = 1;
  std::int64_t outer = 1;
  std::int64_t batch = 1;
  std::int64_t pitch_bytes = 0;
  std::int64_t batch_pitch_bytes = 0;
  unsigned box_inner = 1;
  unsigned box_outer = 1, box_batch = 1;
  BoxSwizzle swizzle = BoxSwizzle::Bytes128;
  // Copies of much that is read once gain nothing of lines that the L2 cache fetches beside.
  bool read_once = false;
};

// A tensor of images (c, w, h, n) or (c, w, h, depth, n), contiguous along c, and the column that
// one copy moves: box_channels of box_pixels pixels, which lie `step` apart from pixel `lower` of a
// line to the pixel that is `upper` behind its last, then on the next line. Entry i of pitches
// and corners belongs to dimension i + 1.
struct Im2colBox {
  const void* base = nullptr;
  ElementType type = ElementType::Bf16;
  unsigned rank = 4;
  std::int64_t extents[5] = {1, 1, 1, 1, 1};
  std::int64_t pitch_bytes[4] = {};
  int lower[3] = {};
  int upper[3] = {};
  unsigned step[5] = {1, 1, 1, 1, 1};
  unsigned box_channels = 1;
  unsigned box_pixels = 1;
  BoxSwizzle swizzle = BoxSwizzle::Bytes128;
};

}  // namespace tw
