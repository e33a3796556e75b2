// TileIO: what im2col_copy.h brings, forward, by loads straight to LDS of half an operand at once.
// A lane reads a chunk of channels of one pixel. Pixels outside of the image lie outside of the
// resource's range, which makes them zero.
#pragma once

#include "tilewright/family/conv2d/im2col_copy.h"
#include "tilewright/io/lds_halves.h"

namespace tw {

// `waves` of 64 lanes load `lane_bytes` each; halves are as LdsHalves has them. Images of two
// sides, each shorter than 2^14, whose channels come in whole chunks go straight to LDS.
template <Tiling tiling, unsigned waves, unsigned lane_bytes, unsigned a_run, unsigned b_run>
class Im2colHalves : public LdsHalves<tiling, waves, lane_bytes, a_run, b_run> {
  using Base = LdsHalves<tiling, waves, lane_bytes, a_run, b_run>;
  using Copies = Im2colCopies<tiling, LineCopy, waves, Completion::WarpsArrive, 64>;
  static_assert(phases_of(tiling) == 1, "Backward data has phases, and filters that are turned.");
  using Base::in_line_;
  using Base::lane_;
  using Base::line_bytes;
  using Base::line_lanes;
  using Base::load_lines;
  using Base::out_of_range;
  using Base::wave_;
  static constexpr unsigned element = bytes_of(tiling.a_type);
  static constexpr int longest = 1 << 14;

 public:
  using Params = typename Copies::Params;
  static constexpr unsigned least_alignment = Copies::least_alignment;
  static constexpr bool spans_groups = Copies::spans_groups, is_by_lines = Copies::is_by_lines;

  TW_DEVICE Im2colHalves(const Params& params, unsigned thread)
      : Base(params, thread), params_(params) {}

  // The pixel that the first position of the filter meets, of each row that the lane loads: where
  // it would lie, in bytes behind the tile's first image, and where in its image.
  struct Row {
    std::uint32_t at;
    std::uint32_t place;  // along h and w, 16 bits each
  };
  struct Sources : Base::Sources {
    Row rows[2 * Base::a_loads];
  };

  template <class WorkTile>
  TW_DEVICE Sources of(const WorkTile& tile) const {
    Sources sources = {Base::of(tile), {}};
    const auto& [w, h, depth] = params_.axes;
    const auto pitch = static_cast<std::uint32_t>(params_.a.row_stride * element);
    const int first = tile.first_row(tiling.m);
    const unsigned of_image = w.outputs.value * h.outputs.value;
    const unsigned image = static_cast<unsigned>(first) / of_image;
    const std::int64_t image_bytes =
        std::int64_t{w.extent} * h.extent * params_.a.row_stride * element;
    sources.a.first = static_cast<const unsigned char*>(params_.a.data) +
                      tile.batch * params_.a.batch_stride * element + image * image_bytes;
    const std::int64_t reach = ((tiling.m - 1) / of_image + 2) * image_bytes;
    sources.a.bytes = out_of_range;
    const bool is_flat = depth.outputs.value == 1 && depth.extent == 1 && depth.pad == 0 &&
                         depth.phases[0].filter.value == 1;
    const bool is_small = is_short(w) && is_short(h);
    const bool in_chunks = params_.channels.value % (16 / element) == 0;
    if (!is_flat || !is_small || !in_chunks || reach >= std::int64_t{out_of_range}) {
      sources.direct = 0;
    }
    TW_UNROLL
    for (unsigned i = 0; i < 2 * Base::a_loads; ++i) {
      const unsigned half = i / Base::a_loads;
      const unsigned line = half * a_run +
                            Base::template line_of<0, a_run>(wave_ + i % Base::a_loads * waves) +
                            lane_ / line_lanes;
      const int row = first + static_cast<int>(line);
      unsigned output = static_cast<unsigned>(row);
      const int x = w.first(w.outputs.split(output)), y = h.first(h.outputs.split(output));
      const auto down = (output - image) * static_cast<unsigned>(h.extent) + unsigned(y);
      const std::uint32_t pixel = down * static_cast<unsigned>(w.extent) + unsigned(x);
      const int there = row < params_.a.rows ? y : -longest;
      sources.rows[i] = {pixel * pitch, unsigned(there) << 16 | (unsigned(x) & 0xffff)};
    }
    return sources;
  }
  static TW_DEVICE Sources until(const Sources& sources, int end) {
    Sources result = sources;
    static_cast<typename Base::Sources&>(result) = Base::until(sources, end);
    return result;
  }

  template <unsigned half, class Tensors>
  TW_DEVICE void issue_a(const Tensors& tensors, const Sources& sources, int k) const {
    constexpr unsigned pieces = a_run / load_lines;
    static_assert(a_run % load_lines == 0 && (pieces % waves == 0 || waves % pieces == 0),
                  "The pieces of a run are loaded by all waves, or the waves load whole runs.");
    static_assert(load_lines % 8 == 0 || pieces % waves == 0,
                  "A lane stands at the same place in its swizzle.");
    const auto& [w, h, depth] = params_.axes;
    const BufferResource resource = {sources.a.first, out_of_range};
    const int advance = k * static_cast<int>(line_bytes);
    // Which position of the filter, and which channels.
    unsigned position = (static_cast<unsigned>(advance) + isa::opaque(in_line_)) / element;
    const unsigned channel = params_.channels.split(position);
    const unsigned right = w.phases[0].filter.split(position) * unsigned(w.dilation);
    const unsigned down = position * unsigned(h.dilation);
    const auto pitch = static_cast<std::uint32_t>(params_.a.row_stride * element);
    const std::uint32_t moved = (down * unsigned(w.extent) + right) * pitch + channel * element;
    const bool is_there = static_cast<int>(in_line_) < sources.a.left - advance;
    const SharedAddress first = tensors.a.address(0, 0, 0);
    const unsigned own = Base::template line_of<half, a_run>(wave_);
    TW_UNROLL
    for (unsigned i = 0; i < Base::a_loads; ++i) {
      const Row& row = sources.rows[half * Base::a_loads + i];
      const unsigned y = unsigned(static_cast<int>(row.place) >> 16) + down;
      const unsigned x = unsigned(static_cast<std::int16_t>(row.place & 0xffff)) + right;
      const bool inside = is_there && y < unsigned(h.extent) && x < unsigned(w.extent);
      const unsigned line =
          Base::template line_of<half, a_run>(i * waves) - Base::template line_of<half, a_run>(0);
      isa::buffer_load_lds<lane_bytes>(first + (line + own) * line_bytes, resource,
                                       inside ? row.at + moved : out_of_range);
    }
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_by_hand(const Stage& stage, const WorkTile& tile, int k) {
    Copies(params_, isa::opaque(64 * wave_ + lane_)).load(stage, tile, k);
    isa::s_waitcnt<0, 0>();
  }

 private:
  // Sums of places and of the filter's steps keep their sign, and their 16 bits.
  static TW_DEVICE bool is_short(const Im2colAxis<1>& axis) {
    const std::int64_t reach = std::int64_t{axis.phases[0].filter.value - 1} * axis.dilation;
    const std::int64_t last = std::int64_t{axis.outputs.value} * axis.stride;
    return axis.extent < longest && axis.pad < longest && reach < longest && last < longest;
  }

  const Params& params_;
};

}  // namespace tw
