// TMA copies of columns of pixels (im2col): where columns begin and end, strides, corners, offsets,
// channels beyond the last; multicast.
#pragma once

#include "tests/conformance/loads.h"
#include "tilewright/isa/ptx/im2col.h"

namespace tw::conformance {

template <unsigned rank>
struct ColumnCopy {
  struct Place {
    int at[rank];
    std::uint16_t offsets[rank - 2];
  };
  static TW_DEVICE Place place(const Params& params, unsigned copy) {
    Place place;
    TW_UNROLL
    for (unsigned d = 0; d < rank; ++d) place.at[d] = params.copies.at[copy][d];
    TW_UNROLL
    for (unsigned i = 0; i < rank - 2; ++i) place.offsets[i] = params.copies.offsets[copy][i];
    return place;
  }
  static TW_DEVICE void load(const Params& params, unsigned copy, SharedAddress to,
                             SharedAddress barrier) {
    const Place from = place(params, copy);
    isa::cp_async_bulk_tensor_load_im2col(to, &params.map, barrier, from.at, from.offsets,
                                          isa::CacheHint::EvictNormal);
  }
  static TW_DEVICE void multicast(const Params& params, unsigned copy, SharedAddress to,
                                  SharedAddress barrier) {
    const Place from = place(params, copy);
    isa::cp_async_bulk_tensor_load_im2col_multicast(to, &params.map, barrier, from.at, from.offsets,
                                                    params.copies.mask[copy],
                                                    isa::CacheHint::EvictNormal);
  }
};

// Where a column begins, and the filter's position.
struct ColumnPlace {
  std::array<int, 5> at;
  std::array<std::uint16_t, 3> offsets;
};

struct Columns {
  std::string name;
  Tensor tensor;
  std::vector<ColumnPlace> places;
};

// (c, w, h, n) or (c, w, h, depth, n).
inline Tensor images(unsigned element_bytes, const std::vector<unsigned>& extents,
                     unsigned channels, unsigned pixels, Swizzle swizzle) {
  std::vector<unsigned> box(extents.size(), 1);
  box[0] = channels;
  Tensor tensor = tensor_of(element_bytes, extents, box, swizzle);
  tensor.pixels = pixels;
  return tensor;
}

inline Copies copies_of(const Columns& columns) {
  NamedBox box{"", columns.tensor, {}};
  for (const ColumnPlace& place : columns.places) box.at.push_back(place.at);
  Copies copies = copies_of(box);
  for (unsigned copy = 0; copy < copies.count; ++copy) {
    for (unsigned i = 0; i < 3; ++i) copies.offsets[copy][i] = columns.places[copy].offsets[i];
  }
  return copies;
}

inline Program columns_program(const Columns& columns) {
  Program program;
  program.name = "im2col_" + columns.name;
  program.body =
      columns.tensor.rank == 4 ? body_of<Load<ColumnCopy<4>>>() : body_of<Load<ColumnCopy<5>>>();
  program.tensor = columns.tensor;
  program.input = {{Fill::Bits, tensor_bytes(columns.tensor), 9}};
  program.params.copies = copies_of(columns);
  const unsigned slot_bytes = program.params.copies.slot_bytes;
  program.grid = {1, 1, 128, slot_bytes + 16};
  program.output_bytes = program.params.copies.count * slot_bytes;
  return program;
}

// Three images of 5 by 7 pixels. A filter of 3 by 3 with padding 1: it begins from -1 to 5 along w
// and from -1 to 3 along h. From the first pixel; on the next line; in the next image; beyond the
// last image; beyond all; at other channels.
inline Columns padded(std::string name, unsigned element_bytes, unsigned channels,
                      unsigned box_channels, Swizzle swizzle) {
  Columns columns{std::move(name),
                  images(element_bytes, {channels, 7, 5, 3}, box_channels, 32, swizzle),
                  {{{0, -1, -1, 0}, {0, 0}},
                   {{0, -1, -1, 0}, {2, 1}},
                   {{0, 3, 2, 0}, {1, 2}},
                   {{0, 5, 3, 0}, {1, 1}},
                   {{0, 2, 3, 2}, {2, 2}},
                   {{0, -1, -1, 3}, {1, 1}},
                   {{static_cast<int>(box_channels), 0, 0, 1}, {1, 0}},
                   {{0, 0, 0, 1}, {255, 255}}}};
  Tensor& tensor = columns.tensor;
  for (unsigned i = 0; i < 2; ++i) tensor.lower[i] = tensor.upper[i] = -1;
  return columns;
}

// Other pixel boxes of the same images, 64 of 72 channels.
inline Columns boxed(std::string name, std::array<int, 4> corners, std::array<unsigned, 2> steps,
                     std::vector<ColumnPlace> places) {
  Columns columns{std::move(name), images(2, {72, 7, 5, 3}, 64, 24, Swizzle::Bytes128),
                  std::move(places)};
  Tensor& tensor = columns.tensor;
  for (unsigned i = 0; i < 2; ++i) {
    tensor.lower[i] = corners[i];
    tensor.upper[i] = corners[2 + i];
    tensor.steps[i] = steps[i];
  }
  return columns;
}

inline Columns deep() {
  Columns columns{"depth",
                  images(2, {72, 5, 4, 3, 2}, 64, 48, Swizzle::Bytes128),
                  {{{0, -1, -1, -2, 0}, {0, 0, 0}},
                   {{0, -1, 1, 0, 0}, {1, 2, 3}},
                   {{64, 3, 3, 1, 0}, {0, 1, 1}},
                   {{0, 0, -1, 1, 1}, {31, 0, 1}}}};
  Tensor& tensor = columns.tensor;
  const int lower[3] = {-1, -1, -2}, upper[3] = {-1, 0, -1};
  for (unsigned i = 0; i < 3; ++i) {
    tensor.lower[i] = lower[i];
    tensor.upper[i] = upper[i];
  }
  tensor.steps[1] = 2;
  return columns;
}

inline Program multicast_columns() {
  Columns columns = padded("multicast", 2, 72, 64, Swizzle::Bytes128);
  columns.places.resize(4);
  Program program = columns_program(columns);
  program.body = body_of<Multicast<ColumnCopy<4>>>();
  Copies& copies = program.params.copies;
  const std::uint16_t masks[4] = {3, 3, 2, 1};
  for (unsigned copy = 0; copy < 4; ++copy) {
    copies.issuer[copy] = copy % 2;
    copies.mask[copy] = masks[copy];
  }
  program.grid = {2, 2, 64, copies.count * copies.slot_bytes + 16};
  program.output_bytes = std::size_t{2} * copies.count * copies.slot_bytes;
  return program;
}

inline std::vector<Program> list_columns() {
  std::vector<Program> programs;
  for (const Columns& columns :
       {padded("plain", 2, 24, 16, Swizzle::None), padded("bytes_1", 1, 48, 32, Swizzle::None),
        padded("bytes_4", 4, 40, 32, Swizzle::Bytes128),
        padded("swizzle_64", 2, 40, 32, Swizzle::Bytes64),
        padded("swizzle_128", 2, 72, 64, Swizzle::Bytes128),
        padded("few_channels", 2, 24, 64, Swizzle::Bytes128),
        padded("narrow", 2, 80, 48, Swizzle::Bytes128),
        // w: -2, 0, ... 6 of up to 7; h: -1, 2.
        boxed("strides", {-2, -1, 1, 0}, {2, 3},
              {{{0, -2, -1, 0}, {0, 0}}, {{0, 4, 2, 0}, {1, 1}}, {{64, 0, 2, 2}, {3, 2}}}),
        boxed("off_the_lattice", {-2, -1, 1, 0}, {2, 3},
              {{{0, -1, 0, 0}, {0, 0}}, {{0, 7, 1, 1}, {1, 1}}}),
        boxed("inside", {2, 1, -2, -1}, {1, 1}, {{{0, 2, 1, 0}, {0, 0}}, {{0, 4, 3, 1}, {1, 1}}}),
        boxed("outside", {8, 1, 6, 0}, {1, 1}, {{{0, 8, 1, 0}, {0, 0}}, {{0, 12, 4, 1}, {0, 0}}}),
        deep()}) {
    programs.push_back(columns_program(columns));
  }
  // More than 128 KiB.
  Columns large = padded("large", 2, 72, 64, Swizzle::Bytes128);
  large.tensor.extents[3] = 30;
  programs.push_back(columns_program(large));
  programs.push_back(multicast_columns());
  return programs;
}

}  // namespace tw::conformance
