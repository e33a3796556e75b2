// A tensor in shared memory as instructions see it: a 32-bit address instead of a pointer. It is
// cut like any tensor; what is not an instruction cannot read or write it.
//
//   SharedTile<Bf16, "(128,64):(64,1)"_layout> a(window_address);
//   auto rows = a.tile<64, 64>(block, 0);
//   auto chunks = a.chunks<16>();               // (128,8) of 16 bytes
//   isa::ldmatrix_x4(registers, chunks.address(row, chunk));
#pragma once

#include "tilewright/layout/element.h"
#include "tilewright/layout/placement.h"
#include "tilewright/layout/recast.h"
#include "tilewright/layout/steps.h"
#include "tilewright/layout/tile_tensor.h"

namespace tw {

// So many bytes that one instruction moves.
template <unsigned bytes>
struct alignas(bytes) Chunk {
  std::uint8_t contents[bytes];
};

template <class T, Layout layout>
class TileTensor<T, Space::Window, layout>
    : public TensorViews<TileTensor<T, Space::Window, layout>, layout> {
  using Views = TensorViews<TileTensor<T, Space::Window, layout>, layout>;
  static_assert(!PackedElement<T>, "A tile in shared memory has elements of whole bytes.");
  static_assert(is_static(layout),
                "A tile in shared memory has no extents known only at run time.");
  static constexpr Layout in_bytes = detail::scaled(layout, sizeof(T));
  static constexpr Layout plain = without_swizzle(in_bytes);

 public:
  using Value = T;
  using Address = std::uint32_t;
  static constexpr unsigned bytes = static_cast<unsigned>(cosize(layout)) * unsigned{sizeof(T)};

  // How many indices a mode has, without a tile at hand.
  template <int mode_index>
  static constexpr unsigned static_extent = detail::static_size(layout,
                                                                leaves_of_mode(layout, mode_index));

  // A swizzle counts from the tile's beginning: that is a multiple of its period.
  TW_HOST_DEVICE constexpr explicit TileTensor(Address first)
      : Views(Extents<0>{}), first_(first) {}

  // The address of the first element.
  TW_HOST_DEVICE constexpr Address address() const { return first_; }
  // One index for each mode, or one for the whole tile.
  template <class... Indices>
  TW_HOST_DEVICE constexpr Address address(Indices... indices) const {
    return detail::swizzled_sum<in_bytes>(first_, indices...);
  }

  // The element at these indices, whose index in one mode is below `step`, and those a multiple of
  // `step` further: their addresses are a constant away (layout/steps.h).
  template <int mode_index, unsigned step, class... Indices>
  TW_HOST_DEVICE constexpr auto steps_from(Indices... indices) const {
    return steps_at<mode_index, step>(address(indices...), indices...);
  }
  // The same, with the address of that element at hand.
  template <int mode_index, unsigned step, class... Indices>
  static TW_HOST_DEVICE constexpr auto steps_at(Address own, Indices... indices) {
    return Steps<in_bytes, mode_index, step>(own, indices...);
  }

  // One number or `whole` for each mode; the whole modes remain. (With nothing in between: the
  // views of a tensor in memory cost the compiler temporaries, and ptxas registers.)
  template <class... Selection>
  TW_HOST_DEVICE constexpr auto slice(Selection... selection) const {
    static_assert(sizeof...(Selection) == Views::num_modes,
                  "slice: give a number or `whole` for each mode");
    constexpr unsigned mask = detail::whole_mask<Selection...>();
    static_assert(begins_at_periods<mask>(),
                  "slice: the swizzle does not begin anew at every index of a cut mode");
    return TileTensor<T, Space::Window, detail::kept_modes(layout, mask)>(
        first_ + detail::sum_as<std::uint32_t, plain, true>(selection...));
  }

  // How many bytes behind the tile's beginning an element lies.
  template <class... Indices>
  static TW_HOST_DEVICE constexpr std::uint32_t offset_of(Indices... indices) {
    return detail::swizzled_sum<in_bytes>(0, indices...);
  }

  // The same tile, counted from another index of one mode on: a multiple of `step`.
  template <unsigned step, int mode_index = 0>
  TW_HOST_DEVICE constexpr TileTensor from(unsigned index) const {
    constexpr Layout cut = mode(plain, mode_index);
    constexpr auto stride = static_cast<unsigned>(offset(cut, std::int64_t{step}));
    static_assert(stride % detail::pointer_unit(in_bytes, 8) == 0,
                  "from: the swizzle does not begin anew at every step");
    static_assert(detail::goes_in_steps(cut, step), "from: the steps are not equally long");
    return TileTensor(first_ + index / step * stride);
  }

  // The same memory in units that an instruction moves.
  template <unsigned chunk_bytes>
  TW_HOST_DEVICE constexpr auto chunks() const {
    static_assert(chunk_bytes % sizeof(T) == 0, "chunks: they hold whole elements");
    return as<Chunk<chunk_bytes>, upcast(layout, chunk_bytes / sizeof(T))>();
  }

  // Another tile, so many bytes behind this one. Of two tiles of a stage the distance is the same
  // in every stage, so that one address and a distance serve for both.
  template <class Other>
  TW_HOST_DEVICE constexpr Other at_distance(std::uint32_t distance) const {
    return Other(first_ + distance);
  }

  // A mode for each leaf.
  TW_HOST_DEVICE constexpr auto flattened() const { return as<T, flatten(layout)>(); }

  // The same memory seen as another tile.
  template <class Other, Layout other>
  TW_HOST_DEVICE constexpr auto as() const {
    using Target = TileTensor<Other, Space::Window, other>;
    static_assert(Target::bytes <= bytes, "as: the other tile is larger");
    return Target(first_);
  }

 private:
  friend Views;

  // Where a swizzle repeats, and nowhere else, a part of a tile is a tile.
  template <unsigned mask>
  static constexpr bool begins_at_periods() {
    const std::int64_t period = detail::pointer_unit(in_bytes, 8);
    for (int i = 0; i < rank(layout); ++i) {
      if ((mask >> i & 1) != 0) continue;
      const LeafRange range = leaves_of_mode(layout, i);
      for (int j = range.first; j < range.last; ++j) {
        if (in_bytes.extents[j] != 1 && in_bytes.strides[j] % period != 0) return false;
      }
    }
    return true;
  }

  // What tiles() asks for: the same memory, in more modes.
  template <Layout to>
  TW_HOST_DEVICE constexpr auto view(const Extents<0>&) const {
    return TileTensor<T, Space::Window, to>(first_);
  }

  Address first_;
};

template <class T, Layout layout>
using SharedTile = TileTensor<T, Space::Window, layout>;

}  // namespace tw
