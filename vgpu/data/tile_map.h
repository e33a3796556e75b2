// The virtual GPU's TMA descriptor: a tensor in global memory and what one copy moves: a box, or a
// column of pixels (im2col). Nothing is interleaved, and bytes outside the tensor read as zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tilewright/base/require.h"
#include "tilewright/base/status.h"
#include "tilewright/isa/model.h"
#include "vgpu/data/swizzle.h"

namespace tw::vgpu {

// A column of pixels of a tensor (c, w, h, d, n), of which a tensor of lower rank has fewer spatial
// dimensions. The first pixel is the copy's; the next ones are found by steps along w; beyond the
// last w of the pixel box comes its first w one step along h, and so on; beyond the last d, the
// next n. Entry i belongs to dimension i + 1.
struct PixelBox {
  std::uint32_t pixels = 0;  // pixels that one copy loads; 0: the map copies boxes
  int lower[3] = {};         // the pixel box's first pixel, from the tensor's first
  int upper[3] = {};         // its last, from the tensor's last
  std::uint32_t steps[3] = {1, 1, 1};
};

// What the elements of a tensor are: copies that reduce ask.
enum class MapNumber : std::uint8_t { Unknown, Unsigned, Signed, Half, Bfloat, Float };

// Dimension 0 is the innermost. Entries of dimensions >= rank do not matter.
struct TileMap {
  void* base = nullptr;
  std::uint32_t element_bytes = 0;
  std::uint32_t rank = 0;
  std::uint64_t extents[5] = {1, 1, 1, 1, 1};
  std::uint64_t pitch_bytes[4] = {};       // strides of dimensions 1 to 4
  std::uint32_t box[5] = {1, 1, 1, 1, 1};  // im2col: only the first matters, the channels
  MapSwizzle swizzle = MapSwizzle::None;
  PixelBox im2col;
  // 4 or 6: elements are packed in global memory, and 16 of them take 16 bytes of shared memory, of
  // which the last are not written (16U4_ALIGN16B, 16U6_ALIGN16B); an element has one byte then.
  std::uint32_t packed_bits = 0;
  // Coordinates of the first dimension count elements of 4 bits, which are packed in both memories
  // (16U4_ALIGN8B); all else of this map counts bytes.
  bool nibbles = false;
  MapNumber number = MapNumber::Unknown;
  // Not 0: no tensor, but so many bytes from the base on, in both memories. No map says it: copies
  // of plain bytes do.
  std::uint32_t line_bytes = 0;

  constexpr bool is_im2col() const { return im2col.pixels > 0; }
  std::int64_t last_pixel(unsigned d) const {
    return static_cast<std::int64_t>(extents[d]) - 1 + im2col.upper[d - 1];
  }
};

// The driver's rules for cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, and that what one copy
// moves fits into shared memory.
Status check(const TileMap& map);

// Packs a map into the 128 opaque bytes; refuses what `check` refuses.
TensorMap encode(const TileMap& map);
// Refuses bytes that `encode` did not write.
TileMap decode(const TensorMap& packed);

// What one copy moves, and what it adds to its barrier: bytes outside the tensor count, the gaps
// between short swizzled rows do not.
std::uint32_t box_bytes(const TileMap& map);
// What the box occupies in shared memory, gaps included.
std::uint32_t shared_box_bytes(const TileMap& map);

enum class CopyDirection { Load, Store, LoadIm2col };

// What an H200 answers with "illegal instruction": a shared address that is no multiple of 128, an
// innermost coordinate that is no multiple of 16 bytes, and a negative coordinate of a store. Of
// im2col, what PTX does not define: a first pixel outside of the pixel box.
Status check_copy(const TileMap& map, const int* at, SharedAddress shared, CopyDirection direction);

// Checks an im2col load's offsets of the filter's position, from w on: 16 bits hold all of them.
Status check_offsets(const TileMap& map, const std::uint16_t* offsets);
// The pixel box as the filter's position sees it: first pixels are moved by the same offsets.
TileMap at_offsets(const TileMap& map, const std::uint16_t* offsets);

// The tensor as stores see it. They write whole 16-byte chunks, so a row whose length is no
// multiple of 16 bytes grows into the gap before the next row (seen on an H200); loads zero those
// elements.
TileMap as_stored(const TileMap& map);

// Bytes that are contiguous in both memories, and all inside or all outside the tensor.
struct Run {
  SharedAddress shared;
  std::byte* global;  // null: outside the tensor
  std::uint32_t bytes;
};

// Shorter rows than the swizzle span leave a gap, so that every row swizzles alike.
constexpr std::uint32_t shared_row_pitch(const TileMap& map) {
  return map.swizzle == MapSwizzle::None ? map.box[0] * map.element_bytes
                                         : swizzle_span(map.swizzle);
}

// Cuts one row of the box into runs: bytes before the tensor, inside it, and after it.
struct RowCut {
  std::uint32_t row_bytes;
  std::uint32_t inside_begin, inside_end;  // bytes of the row; an empty interval: all outside
};

template <class Visitor>
void for_each_swizzled_run(const RowCut& cut, SharedAddress row, std::byte* inside,
                           MapSwizzle swizzle, Visitor&& visit) {
  if (cut.inside_begin == 0 && cut.inside_end == cut.row_bytes) {
    for (std::uint32_t at = 0; at < cut.row_bytes; at += 16) {
      visit(Run{swizzled(row + at, swizzle), inside + at, 16});
    }
    return;
  }
  for (std::uint32_t at = 0; at < cut.row_bytes;) {
    const bool is_inside = at >= cut.inside_begin && at < cut.inside_end;
    std::uint32_t end = std::min(cut.row_bytes, at / 16 * 16 + 16);
    if (is_inside) end = std::min(end, cut.inside_end);
    if (at < cut.inside_begin) end = std::min(end, cut.inside_begin);
    visit(Run{swizzled(row + at, swizzle), is_inside ? inside + (at - cut.inside_begin) : nullptr,
              end - at});
    at = end;
  }
}

// Joins runs that touch in both memories before they reach the visitor.
template <class Visitor>
class RunJoiner {
 public:
  explicit RunJoiner(Visitor& visit) : visit_(visit) {}

  void add(Run run) {
    if (run.bytes == 0) return;
    std::byte* wanted = held_.global == nullptr ? nullptr : held_.global + held_.bytes;
    if (held_.bytes != 0 && run.shared == held_.shared + held_.bytes && run.global == wanted) {
      held_.bytes += run.bytes;
    } else {
      finish();
      held_ = run;
    }
  }
  void finish() {
    if (held_.bytes != 0) visit_(held_);
    held_.bytes = 0;
  }

 private:
  Visitor& visit_;
  Run held_ = {0, nullptr, 0};
};

constexpr std::uint64_t rows_of(const TileMap& map) {
  if (map.is_im2col()) return map.im2col.pixels;
  std::uint64_t product = 1;
  for (unsigned d = 1; d < map.rank; ++d) product *= map.box[d];
  return product;
}

// From the coordinates of one row to those of the next; `at` is where the copy begins.
inline void next_row(const TileMap& map, const int* at, std::int64_t* row) {
  for (unsigned d = 1; d < map.rank; ++d) {
    if (!map.is_im2col()) {
      if (++row[d] < std::int64_t{at[d]} + map.box[d]) return;
      row[d] = at[d];
    } else if (d + 1 == map.rank) {
      ++row[d];
    } else {
      row[d] += map.im2col.steps[d - 1];
      if (row[d] <= map.last_pixel(d)) return;
      row[d] = map.im2col.lower[d - 1];
    }
  }
}

// Visits the box whose first element has the coordinates `at` (negative ones and ones beyond the
// tensor are welcome) in box order. Swizzled runs are at most 16 bytes long; others are as long as
// both memories allow. Of im2col, the column of pixels whose first is at `at`. In shared memory the
// rows are packed; if swizzled, each takes a whole span.
template <class Visitor>
void for_each_run(const TileMap& map, const int* at, SharedAddress shared_base, Visitor&& visit) {
  if (map.line_bytes != 0) {
    visit(Run{shared_base, static_cast<std::byte*>(map.base), map.line_bytes});
    return;
  }
  require(shared_base % 128 == 0, "TMA: the address in shared memory must be a multiple of 128.");
  // Elements [first, last) of a box side are inside the tensor; in 64 bits nothing overflows.
  const auto first = [&](unsigned d) {
    return std::clamp<std::int64_t>(-std::int64_t{at[d]}, 0, map.box[d]);
  };
  const auto last = [&](unsigned d) {
    const auto left = static_cast<std::int64_t>(map.extents[d]) - at[d];
    return std::clamp<std::int64_t>(left, first(d), map.box[d]);
  };
  const auto row_bytes = map.box[0] * map.element_bytes;
  const auto row_pitch = shared_row_pitch(map);
  const RowCut inside_cut{row_bytes, static_cast<std::uint32_t>(first(0)) * map.element_bytes,
                          static_cast<std::uint32_t>(last(0)) * map.element_bytes};
  const RowCut outside_cut{row_bytes, row_bytes, row_bytes};
  auto* const tensor = static_cast<std::byte*>(map.base);
  // Offsets wrap around far outside, where nobody uses them.
  const std::uint64_t inside_offset = map.packed_bits != 0
                                          ? std::uint64_t(at[0]) * map.packed_bits / 8
                                          : (at[0] + first(0)) * map.element_bytes;

  RunJoiner joiner(visit);
  std::int64_t coordinates[5] = {};  // the row's; the first is not used
  for (unsigned d = 1; d < map.rank; ++d) coordinates[d] = at[d];
  SharedAddress row = shared_base;
  for (std::uint64_t left = rows_of(map); left > 0; --left, row += row_pitch) {
    bool row_inside = inside_cut.inside_begin < inside_cut.inside_end;
    std::uint64_t offset = inside_offset;
    for (unsigned d = 1; d < map.rank; ++d) {
      const std::int64_t coordinate = coordinates[d];
      row_inside &= coordinate >= 0 && coordinate < static_cast<std::int64_t>(map.extents[d]);
      offset += static_cast<std::uint64_t>(coordinate) * map.pitch_bytes[d - 1];
    }
    const RowCut& cut = row_inside ? inside_cut : outside_cut;
    std::byte* const inside = row_inside ? tensor + offset : nullptr;
    if (map.packed_bits != 0) {
      // 128 elements, all inside or all outside.
      for (std::uint32_t sixteen = 0; sixteen < map.box[0] / 16; ++sixteen) {
        const std::uint32_t bytes = 2 * map.packed_bits;
        visit(Run{swizzled(row + 16 * sixteen, map.swizzle),
                  row_inside ? inside + sixteen * bytes : nullptr, bytes});
      }
    } else if (map.swizzle != MapSwizzle::None) {
      for_each_swizzled_run(cut, row, inside, map.swizzle, visit);
    } else {
      joiner.add({row, nullptr, cut.inside_begin});
      joiner.add({row + cut.inside_begin, inside, cut.inside_end - cut.inside_begin});
      joiner.add({row + cut.inside_end, nullptr, row_bytes - cut.inside_end});
    }
    next_row(map, at, coordinates);
  }
  joiner.finish();
}

}  // namespace tw::vgpu
