// The tensors and boxes of the copy programs: what loads and stores are asked to move.
#pragma once

#include <array>
#include <utility>

#include "tests/conformance/program.h"

namespace tw::conformance {

enum class Direction { Load, Store };

struct NamedBox {
  std::string name;
  Tensor tensor;
  std::vector<std::array<int, 5>> at;
};

constexpr unsigned row_pitch(const Tensor& tensor) {
  const unsigned row_bytes = tensor.box[0] * tensor.element_bytes;
  return tensor.swizzle == Swizzle::None ? row_bytes : 16u << static_cast<unsigned>(tensor.swizzle);
}

constexpr unsigned box_rows(const Tensor& tensor) {
  if (tensor.pixels > 0) return tensor.pixels;
  unsigned rows = 1;
  for (unsigned d = 1; d < tensor.rank; ++d) rows *= tensor.box[d];
  return rows;
}

// Up to the end of the last row's pitch: stores write whole 16-byte chunks.
constexpr std::size_t tensor_bytes(const Tensor& tensor) {
  if (tensor.rank == 1) return (tensor.extents[0] * tensor.element_bytes + 15) / 16 * 16;
  return tensor.extents[tensor.rank - 1] * tensor.pitch_bytes[tensor.rank - 2];
}

inline Copies copies_of(const NamedBox& box) {
  Copies copies{};
  copies.count = static_cast<unsigned>(box.at.size());
  for (unsigned copy = 0; copy < copies.count; ++copy) {
    for (unsigned d = 0; d < 5; ++d) copies.at[copy][d] = box.at[copy][d];
  }
  const Tensor& tensor = box.tensor;
  // Barriers count packed bytes.
  const unsigned bits = tensor.packed_bits > 0 ? tensor.packed_bits : 8 * tensor.element_bytes;
  copies.counted_bytes = box_rows(tensor) * tensor.box[0] * bits / 8;
  copies.slot_bytes = (box_rows(tensor) * row_pitch(tensor) + 1023) / 1024 * 1024;
  return copies;
}

// Pitches leave a gap of 16 bytes after every row, so that a neighbour's bytes cannot pass for a
// row's own.
inline Tensor tensor_of(unsigned element_bytes, const std::vector<unsigned>& extents,
                        const std::vector<unsigned>& box, Swizzle swizzle) {
  Tensor tensor;
  tensor.element_bytes = element_bytes;
  tensor.rank = static_cast<unsigned>(extents.size());
  tensor.swizzle = swizzle;
  std::uint64_t pitch = (extents[0] * element_bytes + 15) / 16 * 16 + 16;
  for (unsigned d = 0; d < tensor.rank; ++d) {
    tensor.extents[d] = extents[d];
    tensor.box[d] = box[d];
    if (d == 0) continue;
    tensor.pitch_bytes[d - 1] = pitch;
    pitch *= extents[d];
  }
  return tensor;
}

inline Tensor matrix(unsigned element_bytes, unsigned columns, unsigned rows, unsigned box_columns,
                     unsigned box_rows, Swizzle swizzle) {
  return tensor_of(element_bytes, {columns, rows}, {box_columns, box_rows}, swizzle);
}

// Inside; ragged at the far end of each dimension; beyond; and, for loads, before the tensor.
// Innermost coordinates are multiples of 16 bytes, and stores of one program do not overlap: an
// H200 traps on the first, and the second would be a race.
inline NamedBox around(std::string name, const Tensor& tensor, Direction direction) {
  NamedBox named{std::move(name), tensor, {{0, 0, 0, 0, 0}}};
  const int chunk = static_cast<int>(16 / tensor.element_bytes);
  const auto extent = [&](unsigned d) { return static_cast<int>(tensor.extents[d]); };
  const auto box = [&](unsigned d) { return static_cast<int>(tensor.box[d]); };
  std::array<int, 5> ragged{}, beyond{};
  for (unsigned d = 0; d < tensor.rank; ++d) {
    ragged[d] = extent(d) - (box(d) + 1) / 2;
    if (d == 0) ragged[d] = ragged[d] / chunk * chunk;
    beyond[d] = d == 0 ? (extent(d) + chunk - 1) / chunk * chunk : extent(d);
  }
  named.at.push_back(ragged);
  named.at.push_back(beyond);
  if (direction == Direction::Store) return named;
  std::array<int, 5> negative{}, before{}, middle{}, one_side = ragged;
  for (unsigned d = 0; d < tensor.rank; ++d) {
    negative[d] = d == 0 ? -chunk : -((box(d) + 1) / 2);
    before[d] = d == 0 ? -((box(d) + chunk - 1) / chunk * chunk) : -box(d);
    middle[d] = d == 0 ? chunk : 1;
  }
  one_side[0] = -chunk;
  named.at.push_back(negative);
  named.at.push_back(before);
  named.at.push_back(middle);
  named.at.push_back(one_side);
  return named;
}

inline const char* name_of(Swizzle swizzle) {
  constexpr const char* names[] = {"plain", "swizzle_32", "swizzle_64", "swizzle_128"};
  return names[static_cast<unsigned>(swizzle)];
}

inline std::vector<NamedBox> boxes(Direction direction) {
  constexpr Swizzle swizzles[] = {Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64,
                                  Swizzle::Bytes128};
  std::vector<NamedBox> all;
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    all.push_back(around(name, tensor, direction));
  };
  // Rows of a whole number of chunks first, then ragged ones.
  for (const char* edge : {"", "_ragged"}) {
    const unsigned more = *edge == 0 ? 0 : 3;
    const auto rank = [&](unsigned n) { return "rank_" + std::to_string(n) + edge; };
    const auto plain = Swizzle::None;
    add(rank(1), tensor_of(4, {96 + more}, {64}, plain));
    add(rank(2), tensor_of(4, {24 + more, 11}, {16, 8}, plain));
    add(rank(3), tensor_of(4, {24 + more, 5, 4}, {16, 4, 2}, plain));
    add(rank(4), tensor_of(4, {16 + more, 5, 3, 3}, {8, 4, 2, 2}, plain));
    add(rank(5), tensor_of(4, {16 + more, 5, 3, 3, 3}, {8, 2, 2, 2, 2}, plain));
    for (unsigned bytes : {1u, 2u, 8u}) {
      add("bytes_" + std::to_string(bytes) + edge,
          matrix(bytes, 96 / bytes + more, 11, 64 / bytes, 8, plain));
    }
    for (Swizzle swizzle : swizzles) {
      const unsigned span = 16u << static_cast<unsigned>(swizzle);
      const std::string name = std::string(name_of(swizzle)) + edge;
      add(name, matrix(2, span + more, 19, span / 2, 16, swizzle));
      if (span > 16) add(name + "_short", matrix(2, span + more, 19, span / 2 - 8, 16, swizzle));
      add(name + "_rank_3", tensor_of(4, {span / 2 + more, 7, 5}, {span / 4, 4, 3}, swizzle));
    }
  }
  return all;
}

}  // namespace tw::conformance
