#include "vgpu/data/tile_map.h"

#include <fmt/format.h>

namespace tw::vgpu {
namespace {

// The second word of every packed map: ASCII "twtilMap". CUTLASS clears its bit 21 when a tensor is
// small, against a fault of drivers, so that bit is none of ours.
constexpr std::uint64_t magic = 0x7477'7469'6c4d'6170;
// What a CTA of Hopper may have (227 KiB). The driver does not look; no copy of more can succeed.
constexpr std::uint64_t shared_memory_bytes = 232'448;

enum Word {
  BaseWord = 0,
  MagicWord = 1,
  ExtentWords = 2,
  PitchWords = 5,
  ShapeWord = 9,
  PixelsWord = 10,
  PixelBoxWords = 11,
};

template <class... Arguments>
Status refused(fmt::format_string<Arguments...> sentence, Arguments&&... arguments) {
  return Status::refused("TileMap: " +
                         fmt::format(sentence, std::forward<Arguments>(arguments)...));
}

// Corners and offsets of all spatial dimensions share 16 bits.
unsigned corner_bits(const TileMap& map) { return 16 / (map.rank - 2); }

Status check_pixels(const TileMap& map) {
  if (map.rank < 3) return refused("im2col needs a rank of 3 to 5, not {}.", map.rank);
  if (map.im2col.pixels > 1024) {
    return refused("a column of {} pixels has more than 1024.", map.im2col.pixels);
  }
  const int limit = 1 << (corner_bits(map) - 1);
  for (unsigned d = 1; d + 1 < map.rank; ++d) {
    const int lower = map.im2col.lower[d - 1], upper = map.im2col.upper[d - 1];
    for (const int corner : {lower, upper}) {
      if (corner < -limit || corner >= limit) {
        return refused("corner {} of dimension {} is not in {} to {}.", corner, d, -limit,
                       limit - 1);
      }
    }
    if (lower > map.last_pixel(d)) {
      return refused("the pixel box from {} to {} of dimension {} is empty.", lower,
                     map.last_pixel(d), d);
    }
    const auto step = map.im2col.steps[d - 1];
    if (step < 1 || step > 8) return refused("step {} of dimension {} is not in 1 to 8.", step, d);
  }
  return Status::good();
}

Status check_packed(const TileMap& map) {
  const auto address = reinterpret_cast<std::uintptr_t>(map.base);
  if ((map.packed_bits != 4 && map.packed_bits != 6) || map.element_bytes != 1 || map.is_im2col()) {
    return refused("packed elements have 4 or 6 bits, not {}, and come in boxes.", map.packed_bits);
  }
  if (address % 32 != 0) {
    return refused("the base address {:#x} of packed elements must be a multiple of 32.", address);
  }
  for (unsigned d = 1; d < map.rank; ++d) {
    if (map.pitch_bytes[d - 1] % 32 != 0) {
      return refused("pitch {} of dimension {} of packed elements must be a multiple of 32 bytes.",
                     map.pitch_bytes[d - 1], d);
    }
  }
  if (map.extents[0] % 128 != 0 || map.box[0] != 128) {
    return refused("lines of {} packed elements and boxes of {} must be multiples of 128, and 128.",
                   map.extents[0], map.box[0]);
  }
  if (map.swizzle != MapSwizzle::None && map.swizzle != MapSwizzle::Bytes128) {
    return refused("packed elements are swizzled over 128 bytes, or not at all.");
  }
  return Status::good();
}

}  // namespace

Status check(const TileMap& map) {
  if (map.rank < 1 || map.rank > 5) return refused("rank {} is not in 1 to 5.", map.rank);
  const auto size = map.element_bytes;
  if (size != 1 && size != 2 && size != 4 && size != 8) {
    return refused("elements of {} bytes are not 1, 2, 4 or 8 bytes wide.", size);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(map.base);
  if (address == 0) return refused("the base address is null.");
  if (address % 16 != 0) {
    return refused("the base address {:#x} must be a multiple of 16.", address);
  }
  for (unsigned d = 0; d < map.rank; ++d) {
    if (map.extents[d] < 1 || map.extents[d] > std::uint64_t{1} << 32) {
      return refused("extent {} of dimension {} is not in 1 to 2^32.", map.extents[d], d);
    }
    if (map.box[d] < 1 || map.box[d] > 256) {
      return refused("box side {} of dimension {} is not in 1 to 256.", map.box[d], d);
    }
  }
  for (unsigned d = 1; d < map.rank; ++d) {
    const auto pitch = map.pitch_bytes[d - 1];
    if (pitch % 16 != 0) {
      return refused("pitch {} of dimension {} must be a multiple of 16 bytes.", pitch, d);
    }
    if (pitch >= std::uint64_t{1} << 40) {
      return refused("pitch {} of dimension {} must be less than 2^40 bytes.", pitch, d);
    }
  }
  if (map.is_im2col()) {
    if (Status status = check_pixels(map); !status.is_good()) return status;
  }
  if (map.packed_bits != 0) {
    if (Status status = check_packed(map); !status.is_good()) return status;
  }
  const auto row_bytes = map.box[0] * size;
  if (row_bytes % 16 != 0) {
    return refused("a box row of {} x {} = {} bytes must be a multiple of 16.", map.box[0], size,
                   row_bytes);
  }
  if (map.swizzle > MapSwizzle::Bytes128Atom32) {
    return refused("{} names no swizzle.", static_cast<std::uint32_t>(map.swizzle));
  }
  if (map.swizzle != MapSwizzle::None && row_bytes > swizzle_span(map.swizzle)) {
    return refused("a box row of {} x {} = {} bytes must not exceed the swizzle span of {}.",
                   map.box[0], size, row_bytes, swizzle_span(map.swizzle));
  }
  const auto occupied = rows_of(map) * shared_row_pitch(map);
  if (occupied > shared_memory_bytes) {
    return refused("a box of {} bytes exceeds the {} of shared memory.", occupied,
                   shared_memory_bytes);
  }
  return Status::good();
}

std::uint32_t box_bytes(const TileMap& map) {
  if (map.line_bytes != 0) return map.line_bytes;
  const std::uint32_t bits = map.packed_bits != 0 ? map.packed_bits : 8 * map.element_bytes;
  return static_cast<std::uint32_t>(rows_of(map) * map.box[0] * bits / 8);
}

std::uint32_t shared_box_bytes(const TileMap& map) {
  if (map.line_bytes != 0) return map.line_bytes;
  return static_cast<std::uint32_t>(rows_of(map) * shared_row_pitch(map));
}

Status check_copy(const TileMap& map, const int* at, SharedAddress shared,
                  CopyDirection direction) {
  if (shared % 128 != 0) {
    return refused("a copy's address in shared memory {:#x} must be a multiple of 128.", shared);
  }
  const std::int64_t at_bytes = std::int64_t{at[0]} * map.element_bytes;
  if (at_bytes % 16 != 0) {
    return refused("a copy's innermost coordinate {} x {} = {} bytes must be a multiple of 16.",
                   at[0], map.element_bytes, at_bytes);
  }
  if (map.packed_bits != 0 && (at[0] % 128 != 0 || direction == CopyDirection::Store)) {
    return refused(
        "packed elements are loaded, from a coordinate that is a multiple of 128, not {}.", at[0]);
  }
  for (unsigned d = 0; direction == CopyDirection::Store && d < map.rank; ++d) {
    if (at[d] < 0) {
      return refused("a store's coordinate {} of dimension {} must not be negative.", at[d], d);
    }
  }
  for (unsigned d = 1; map.is_im2col() && d + 1 < map.rank; ++d) {
    if (at[d] < map.im2col.lower[d - 1] || at[d] > map.last_pixel(d)) {
      return refused("coordinate {} of dimension {} lies outside of the pixel box, {} to {}.",
                     at[d], d, map.im2col.lower[d - 1], map.last_pixel(d));
    }
  }
  return Status::good();
}

Status check_offsets(const TileMap& map, const std::uint16_t* offsets) {
  for (unsigned i = 0; i + 2 < map.rank; ++i) {
    if (offsets[i] >> corner_bits(map) != 0) {
      return refused("offset {} of dimension {} has more than {} bits.", offsets[i], i + 1,
                     corner_bits(map));
    }
  }
  return Status::good();
}

TileMap at_offsets(const TileMap& map, const std::uint16_t* offsets) {
  TileMap moved = map;
  for (unsigned i = 0; i + 2 < map.rank; ++i) {
    moved.im2col.lower[i] += offsets[i];
    moved.im2col.upper[i] += offsets[i];
  }
  return moved;
}

TileMap as_stored(const TileMap& map) {
  TileMap stored = map;
  const std::uint64_t chunk = 16 / map.element_bytes;
  stored.extents[0] = (map.extents[0] + chunk - 1) / chunk * chunk;
  return stored;
}

// Extents and box sides are stored less one, so that 2^32 fits 32 bits and 256 fits 8.
TensorMap encode(const TileMap& map) {
  const Status status = check(map);
  require(status.is_good(), status.sentence().c_str());
  TensorMap packed = {};
  packed.words[MagicWord] = magic;
  packed.words[BaseWord] = reinterpret_cast<std::uintptr_t>(map.base);
  std::uint64_t& shape = packed.words[ShapeWord];
  for (unsigned d = 0; d < map.rank; ++d) {
    packed.words[ExtentWords + d / 2] |= (map.extents[d] - 1) << (d % 2 * 32);
    shape |= std::uint64_t{map.box[d] - 1} << (d * 8);
  }
  for (unsigned d = 1; d < map.rank; ++d) {
    packed.words[PitchWords + d - 1] = map.pitch_bytes[d - 1];
  }
  shape |= std::uint64_t{map.element_bytes} << 40 | std::uint64_t{map.rank} << 48 |
           static_cast<std::uint64_t>(map.swizzle) << 56;
  packed.words[PixelsWord] = map.im2col.pixels | std::uint64_t{map.packed_bits} << 32 |
                             static_cast<std::uint64_t>(map.number) << 40 |
                             std::uint64_t{map.nibbles} << 48;
  for (unsigned i = 0; map.is_im2col() && i + 2 < map.rank; ++i) {
    const auto corner = [](int at) { return std::uint64_t{static_cast<std::uint16_t>(at)}; };
    packed.words[PixelBoxWords + i] = corner(map.im2col.lower[i]) |
                                      corner(map.im2col.upper[i]) << 16 |
                                      std::uint64_t{map.im2col.steps[i]} << 32;
  }
  return packed;
}

TileMap decode(const TensorMap& packed) {
  require(packed.words[MagicWord] == magic,
          "TileMap: this TensorMap was not made for the virtual GPU.");
  TileMap map;
  map.base = reinterpret_cast<void*>(packed.words[BaseWord]);
  const std::uint64_t shape = packed.words[ShapeWord];
  map.element_bytes = shape >> 40 & 0xff;
  map.rank = shape >> 48 & 0xff;
  map.swizzle = static_cast<MapSwizzle>(shape >> 56);
  // A kernel may write over its parameters, or copy a map in part.
  require(map.rank >= 1 && map.rank <= 5,
          "TileMap: this TensorMap is damaged: its rank is not in 1 to 5.");
  for (unsigned d = 0; d < map.rank; ++d) {
    map.extents[d] = (packed.words[ExtentWords + d / 2] >> (d % 2 * 32) & 0xffff'ffff) + 1;
    map.box[d] = (shape >> (d * 8) & 0xff) + 1;
  }
  for (unsigned d = 1; d < map.rank; ++d) {
    map.pitch_bytes[d - 1] = packed.words[PitchWords + d - 1];
  }
  map.im2col.pixels = static_cast<std::uint32_t>(packed.words[PixelsWord]);
  map.packed_bits = packed.words[PixelsWord] >> 32 & 0xff;
  map.number = static_cast<MapNumber>(packed.words[PixelsWord] >> 40 & 0xff);
  map.nibbles = (packed.words[PixelsWord] >> 48 & 1) != 0;
  for (unsigned i = 0; map.is_im2col() && i + 2 < map.rank; ++i) {
    const std::uint64_t word = packed.words[PixelBoxWords + i];
    map.im2col.lower[i] = static_cast<std::int16_t>(word);
    map.im2col.upper[i] = static_cast<std::int16_t>(word >> 16);
    map.im2col.steps[i] = static_cast<std::uint32_t>(word >> 32);
  }
  const Status status = check(map);
  require(status.is_good(), status.sentence().c_str());
  return map;
}

}  // namespace tw::vgpu
