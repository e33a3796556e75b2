// A stage: the tiles of A and B in shared memory, what lies beside them, and all of it as tensors.
#pragma once

#include <cstddef>
#include <type_traits>

#include "tilewright/io/completion.h"
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

// Nothing beside A and B.
struct NoScales {
  struct Tile {};
  template <unsigned stage_bytes = 0>
  struct Tensors {
    TW_DEVICE explicit Tensors(SharedAddress) {}
  };
  struct Params {};
  static constexpr Completion completion = Completion::WarpsArrive;
  static constexpr unsigned arrivals = 0;
  static constexpr unsigned row_step = 1;
  static constexpr unsigned column_step = 1;  // tiles begin at multiples of it
};

// One stage: the tiles of A and B, and their scales (which may be none).
template <Tiling tiling, class Scales>
struct MatmulTiles : OperandTiles<tiling>, Scales::Tile {};

// The same as tensors: of one stage, or of a ring.
template <Tiling tiling, class Scales, unsigned stage_bytes = 0>
struct MatmulTensors : OperandTensors<tiling, stage_bytes>, Scales::template Tensors<stage_bytes> {
  TW_DEVICE explicit MatmulTensors(SharedAddress first_stage)
      : OperandTensors<tiling, stage_bytes>(first_stage),
        Scales::template Tensors<stage_bytes>(first_stage +
                                              unsigned{sizeof(OperandTiles<tiling>)}) {}
};

}  // namespace tw
