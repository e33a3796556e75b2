// TileIO by loads straight to LDS, of half an operand at once: who multiplies halves waits for what
// it reads next, and for no more. Nobody waits here.
#pragma once

#include "tilewright/io/lds_loader.h"

namespace tw {

// The first half of A's tile is `a_run` lines from each 2 * a_run on, the second those behind them;
// B's halves likewise. The waves load equal shares of each.
template <Tiling tiling, unsigned waves, unsigned lane_bytes, unsigned a_run, unsigned b_run>
class LdsHalves : public LdsLoader<tiling, waves, lane_bytes> {
  using Base = LdsLoader<tiling, waves, lane_bytes>;

 protected:
  using Base::in_line_;
  using Base::lane_;
  using Base::line_bytes;
  using Base::line_lanes;
  using Base::load_lines;
  using Base::out_of_range;
  using Base::wave_;

 private:
  static_assert(tiling.a_major == Major::K && tiling.b_major == Major::K && tiling.spans == 1,
                "Halves are loaded by lines: operands are K-major, of one span.");

 public:
  using typename Base::Source;
  using typename Base::Sources;
  static constexpr unsigned a_lines = a_run, b_lines = b_run, bytes = lane_bytes;
  // Each wave issues so many for a half.
  static constexpr unsigned a_loads = tiling.m / 2 / (waves * load_lines);
  static constexpr unsigned b_loads = tiling.n / 2 / (waves * load_lines);
  static_assert(tiling.m % (2 * waves * load_lines) == 0 &&
                    tiling.n % (2 * waves * load_lines) == 0,
                "The waves load equal shares of half of A, and of B.");
  static constexpr unsigned stages_held = 0;

  TW_DEVICE LdsHalves(const typename Base::Params& params, unsigned thread)
      : Base(params, thread) {}

  // The same, of which nothing is there from k-tile `end` on.
  static TW_DEVICE Sources until(const Sources& sources, int end) {
    Sources result = sources;
    const int bytes = end * static_cast<int>(line_bytes);
    if (bytes < result.a.left) result.a.left = bytes;
    if (bytes < result.b.left) result.b.left = bytes;
    return result;
  }

  template <unsigned half, class Tensors>
  TW_DEVICE void issue_a(const Tensors& tensors, const Sources& sources, int k) const {
    issue<half, a_run, a_loads>(tensors.a, sources.a, k);
  }
  template <unsigned half, class Tensors>
  TW_DEVICE void issue_b(const Tensors& tensors, const Sources& sources, int k) const {
    issue<half, b_run, b_loads>(tensors.b, sources.b, k);
  }

 protected:
  // The line of the tile at which piece `piece` of a half begins, which is what a wave loads at
  // once.
  template <unsigned half, unsigned run>
  static TW_DEVICE constexpr unsigned line_of(unsigned piece) {
    constexpr unsigned pieces = run / load_lines;
    return (2 * (piece / pieces) + half) * run + piece % pieces * load_lines;
  }

 private:
  template <unsigned half, unsigned run, unsigned count, class Tensor>
  TW_DEVICE void issue(const Tensor& tile, const Source& source, int k) const {
    constexpr unsigned pieces = run / load_lines;
    static_assert(run % load_lines == 0 && (pieces % waves == 0 || waves % pieces == 0),
                  "The pieces of a run are loaded by all waves, or the waves load whole runs.");
    static_assert(load_lines % 8 == 0 || pieces % waves == 0,
                  "A lane stands at the same place in its swizzle.");
    const BufferResource resource = {source.first, source.bytes < out_of_range
                                                       ? static_cast<std::uint32_t>(source.bytes)
                                                       : out_of_range};
    const auto pitch = static_cast<std::uint32_t>(source.pitch);
    const int advance = k * static_cast<int>(line_bytes);
    const unsigned own = line_of<half, run>(wave_);
    // Where the lane reads first. One addition leads to each next place, and no register lasts.
    std::uint32_t at = isa::opaque((own + lane_ / line_lanes) * pitch + in_line_ +
                                   static_cast<std::uint32_t>(advance));
    if (static_cast<int>(in_line_) >= source.left - advance) at = out_of_range;
    const SharedAddress first = tile.address(0, 0, 0);
    unsigned was = 0;
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      // From the wave's first piece; those of all waves lie as their own do.
      const unsigned line = line_of<half, run>(i * waves) - line_of<half, run>(0);
      at += (line - was) * pitch;
      was = line;
      isa::buffer_load_lds<lane_bytes>(first + (line + own) * line_bytes, resource, at);
    }
  }
};

}  // namespace tw
