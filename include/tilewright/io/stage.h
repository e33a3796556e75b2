// A stage: the tiles of A and B in shared memory, and the same as tensors.
#pragma once

#include <cstddef>
#include <type_traits>

#include "tilewright/io/tiling.h"
#include "tilewright/layout/shared_tile.h"

namespace tw {

// A stage in the hands of who fills it, and of who reads it: what a loader takes, a TileOp does
// not.
template <class Stage>
concept StageToFill = requires {
  typename Stage::Fills;
};
template <class Stage>
concept StageToRead = requires {
  typename Stage::Reads;
};

// Whether the tensors of a TileOp are those of the ring that a stage belongs to.
template <class Stage, class Tensors>
constexpr bool is_stage_of =
    std::is_base_of_v<Tensors, typename Stage::Reads::Payload::RingTensors>;

// The memory of one stage. The swizzle repeats after 1024 bytes, and tiles begin there.
template <Tiling tiling>
struct OperandTiles {
  alignas(1024) unsigned char a[tiling.a_bytes()];
  alignas(1024) unsigned char b[tiling.b_bytes()];
};

// What shared memory has of an element: of fewer than 8 bits, bytes.
template <ElementType type>
using Unit = std::conditional_t<(bits_in(type) < 8), std::uint8_t, Element<type>>;

// One stage, or with `stage_bytes` from one to the next all stages of a ring.
template <Tiling tiling, unsigned stage_bytes = 0>
struct OperandTensors {
  static constexpr Layout a_layout =
      in_stages(tiling.a_layout(), stage_bytes, bytes_of(tiling.a_type));
  static constexpr Layout b_layout =
      in_stages(tiling.b_layout(), stage_bytes, bytes_of(tiling.b_type));
  using A = SharedTile<Unit<tiling.a_type>, a_layout>;
  using B = SharedTile<Unit<tiling.b_type>, b_layout>;
  static constexpr unsigned b_at = offsetof(OperandTiles<tiling>, b);

  A a;  // (m,k,span), of a ring (m,k,span,stage)
  B b;  // (n,k,span), of a ring (n,k,span,stage)

  TW_DEVICE explicit OperandTensors(SharedAddress first_stage)
      : a(first_stage), b(first_stage + b_at) {}
};

}  // namespace tw
