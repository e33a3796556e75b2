// Repeating a block: the first part is the block, the rest says where its copies begin.
#pragma once

#include "tilewright/layout/complement.h"
#include "tilewright/layout/composition.h"

namespace tw {

namespace detail {

// Where the copies of a block begin, when they are arranged like `tiler` in units of whole blocks.
constexpr Layout copies_of(const Layout& block, const Layout& tiler) {
  require(tiler.swizzle.is_identity(), "product: the tiler has a swizzle");
  std::int64_t target = checked_product(size(block), cosize(tiler));
  return composition(complement(without_swizzle(block), target), tiler);
}

}  // namespace detail

// (block, copies)
constexpr Layout logical_product(const Layout& block, const Layout& tiler) {
  return from_modes(block, detail::copies_of(block, tiler));
}

// ((block 0, copies 0), (block 1, copies 1), ..., further modes as they are)
constexpr Layout logical_product(const Layout& block, const Tiler& tiler) {
  require(tiler.rank <= rank(block), "logical_product: the tiler has more modes than the block");
  Layout result{};
  for (int i = 0; i < rank(block); ++i) {
    Layout child = mode(block, i);
    push_mode(result, i < tiler.rank ? logical_product(child, tiler[i]) : child);
  }
  return result;
}

namespace detail {

// Modes of extent 1 fill up to `modes`; they change no offset.
constexpr Layout padded(Layout layout, int modes) {
  for (int i = rank(layout); i < modes; ++i) push_mode(layout, single(1, 0));
  return layout;
}

// Pairs the modes of block and tiler after the product. Which of the two comes first decides
// whether a block stays together (blocked) or is spread over its copies (raked).
constexpr Layout paired_product(const Layout& block, const Layout& tiler, bool block_first) {
  int modes = rank(block) > rank(tiler) ? rank(block) : rank(tiler);
  Layout blocks = padded(block, modes);
  Layout copies = copies_of(block, padded(tiler, modes));
  Layout result{};
  for (int i = 0; i < modes; ++i) {
    Layout one = mode(blocks, i);
    Layout many = modes == 1 ? copies : mode(copies, i);
    push_mode(result, block_first ? from_modes(one, many) : from_modes(many, one));
  }
  return result;
}

}  // namespace detail

// ((block 0, copies 0), (block 1, copies 1), ...): whole blocks side by side.
constexpr Layout blocked_product(const Layout& block, const Layout& tiler) {
  return detail::paired_product(block, tiler, true);
}

// ((copies 0, block 0), (copies 1, block 1), ...): the elements of a block spread over its copies.
constexpr Layout raked_product(const Layout& block, const Layout& tiler) {
  return detail::paired_product(block, tiler, false);
}

// Fills a shape with copies of a block. The strides of `shape` say in which order the copies follow
// each other: tile_to_shape(block, row_major(128, 64)) goes along the rows first.
constexpr Layout tile_to_shape(const Layout& block, const Layout& shape) {
  require(rank(block) <= rank(shape), "tile_to_shape: the block has more modes than the shape");
  Layout whole = flatten(shape);
  require(whole.leaves == rank(shape), "tile_to_shape: the shape must be flat");
  Layout padded = detail::padded(block, rank(shape));
  Layout copies = whole;
  for (int i = 0; i < rank(shape); ++i) {
    std::int64_t extent = size(mode(padded, i));
    require(whole.extents[i] % extent == 0, "tile_to_shape: the block does not divide the shape");
    copies.extents.set(i, whole.extents[i] / extent);
  }
  Slots order = detail::order_by_stride(whole);
  std::int64_t stride = 1;
  for (int i = 0; i < whole.leaves; ++i) {
    int leaf = static_cast<int>(order[i]);
    copies.strides.set(leaf, stride);
    stride = checked_product(stride, copies.extents[leaf]);
  }
  return coalesce_modes(blocked_product(padded, copies));
}

}  // namespace tw
