// TileIO: forward im2col that has each pixel once for all positions of a filter's line.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/family/conv2d/im2col.h"
#include "tilewright/isa/ptx/wgmma.h"

namespace tw {

// One stage: pixels that one line of the filter meets, of as many channels as a k-tile has, and the
// filters at the line's positions. Row i meets pixel i at the first position, and one further at
// the next: the tile of A that a position multiplies begins at its line of the same memory. The
// swizzle is a function of the address, so that a tile may begin at any line of its pattern.
template <Tiling tiling>
struct LineTiles {
  using Line = Chunk<Tiling::span_bytes>;
  static constexpr unsigned pixels = tiling.m + line_positions - 1;
  alignas(1024) Line a[pixels];
  alignas(1024) Line b[line_positions][tiling.n];
};

// The same as tensors: those of the first position.
template <Tiling tiling, unsigned stage_bytes = 0>
struct LineTensors : OperandTensors<tiling, stage_bytes> {
  using Operands = OperandTensors<tiling, stage_bytes>;
  using Tiles = LineTiles<tiling>;
  using Lines = SharedTile<typename Tiles::Line, single(sizeof(Tiles) / Tiling::span_bytes, 1)>;
  static constexpr unsigned first_filter = offsetof(Tiles, b) / Tiling::span_bytes;

  TW_DEVICE explicit LineTensors(SharedAddress first_stage)
      : Operands(first_stage), lines_(first_stage) {
    this->b = at(0).b;
  }
  // Those of another.
  TW_DEVICE Operands at(unsigned position) const {
    Operands operands = *this;
    operands.a = typename Operands::A(lines_.address(position));
    operands.b = typename Operands::B(lines_.address(first_filter + position * tiling.n));
    return operands;
  }

 private:
  Lines lines_;
};

// Rows of A count the pixels of lines with all of their padding: those at the end of a line, where
// the filter would reach over it, are of no output. The filter of the axes has one position along
// w. A k-tile is channels of a line of the filter, the next of the same line first.
template <Tiling tiling, bool narrow = false>
class Im2colLineLoader : public Im2colLoader<tiling, narrow> {
  using Base = Im2colLoader<tiling, narrow>;
  static_assert(tiling.a_major == Major::K && tiling.b_major == Major::K && tiling.spans == 1 &&
                    tiling.cluster.size() == 1,
                "Lines are of forward convolutions, and every CTA loads its own.");

 public:
  using Params = typename Base::Params;
  static constexpr bool is_by_lines = true;
  static_assert(!Base::loads_own_first, "'load' is another than the base's.");
  static constexpr TmaBox box_a() { return {tiling.span_k(), LineTiles<tiling>::pixels}; }

  TW_DEVICE Im2colLineLoader(const Params& params, unsigned thread)
      : Base(params, thread), params_(params) {}

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const auto [line, c_tile] = params_.c_tiles.divide(static_cast<unsigned>(k));
    const int c = this->first_channel(c_tile);
    this->load_image(stage, tile, tile.batch * params_.group_channels + c, line, 0);
    const int first = tile.batch * params_.group_filters + static_cast<int>(line * line_positions);
    const auto tensors = stage.tensors();
    TW_UNROLL
    for (unsigned position = 0; position < line_positions; ++position) {
      Base::CopyB::load(tensors.at(position).b, &params_.b, stage.full(),
                        tile.first_column(tiling.n), c, first + static_cast<int>(position), 0, 0);
    }
  }

 private:
  const Params& params_;
};

template <Tiling tiling>
constexpr unsigned channels_of_product = 32 / bytes_of(tiling.a_type);
template <Tiling tiling>
constexpr unsigned products_of_k_tile = tiling.k() / channels_of_product<tiling>;

// A TileOp of each position, on the same sums.
template <class TargetOp, Tiling tiling, unsigned stage_bytes>
class LineOp : public TargetOp {
  using Tensors = LineTensors<tiling, stage_bytes>;

 public:
  TW_DEVICE LineOp(const Tensors& stages, unsigned first_row, unsigned thread)
      : TargetOp(stages, first_row, thread),
        second_(stages.at(1), first_row, thread),
        third_(stages.at(2), first_row, thread) {}

  // Issues the products of one stage and waits for those of the stage before.
  template <class Sum, StageToRead Stage>
  TW_DEVICE void multiply(Sum& sum, const Stage& stage) {
    issue<products_of_k_tile<tiling>>(sum, stage);
    isa::wgmma_wait_group<line_positions * TargetOp::stages_held>();
  }
  // The same of `taken` products along k, a group of each position, without waiting.
  template <unsigned taken, class Sum, StageToRead Stage>
  TW_DEVICE void issue(Sum& sum, const Stage& stage) {
    TargetOp::template issue<taken>(sum, stage);
    second_.template issue<taken>(sum, stage);
    third_.template issue<taken>(sum, stage);
  }

 private:
  static_assert(line_positions == 3);
  TargetOp second_, third_;
};

}  // namespace tw
