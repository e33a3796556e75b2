// TileIO by loads from global memory straight to LDS: no registers, and a stage more on its way
// than by copies through them. Lanes write LDS one behind the other, so that the swizzle is in
// whence they read: the lane that writes slot s of a line reads the chunk that belongs there.
//
// What lies outside of the matrix reads as zero: rows (K-major) by the resource's range, and k by
// an offset out of range. Stages that this cannot bring, because a line ends within what a lane
// reads, or begins at no multiple of it, go through registers.
#pragma once

#include "tilewright/io/vector_copy.h"
#include "tilewright/isa/amdgcn/schedule.h"
#include "tilewright/isa/amdgcn/wave_memory.h"

namespace tw {

// Copies like VectorCopy, but into lines that are those of global memory, and a chunk at a time:
// registers are few where it is needed.
struct LineCopy {
  static constexpr bool keeps_major = true;
  static constexpr unsigned least_alignment = 1;
  static constexpr unsigned at_once = 0, most_at_once = 0;
  template <class T>
  static TW_DEVICE void chunk(SharedAddress destination, const T* line, std::int64_t /*step*/,
                              int count, unsigned /*alignment*/) {
    VectorCopy::store(destination, VectorCopy::fetch(line, 1, count));
  }
  // Nothing is on its way when a chunk is stored.
  static TW_DEVICE void commit() {}
  template <unsigned pending>
  static TW_DEVICE void wait() {}
};

// By `waves` waves, each of whose lanes loads `lane_bytes` at once.
template <Tiling tiling, unsigned waves, unsigned lane_bytes>
class LdsLoader : public ThreadLoader<tiling, LineCopy, waves, Completion::WarpsArrive, 64> {
  using Base = ThreadLoader<tiling, LineCopy, waves, Completion::WarpsArrive, 64>;

 protected:
  static constexpr unsigned line_bytes = Tiling::span_bytes;
  static constexpr unsigned load_bytes = 64 * lane_bytes;  // one load of a whole wave
  static constexpr unsigned load_lines = load_bytes / line_bytes;
  static constexpr unsigned line_lanes = line_bytes / lane_bytes;
  static_assert(tiling.a_bytes() % (waves * load_bytes) == 0 &&
                    tiling.b_bytes() % (waves * load_bytes) == 0,
                "The waves load equal shares of A, and of B.");
  static_assert(waves * load_lines % 8 == 0, "A lane stands at the same place in its swizzle.");
  // All tiles of operands are swizzled alike, in lines of 128 bytes.
  using Swizzled = SharedTile<Chunk<16>, lines_of(tiling.a_layout(), bytes_of(tiling.a_type))>;
  static constexpr unsigned loads_of_a = tiling.a_bytes() / (waves * load_bytes);
  static constexpr unsigned loads_of_b = tiling.b_bytes() / (waves * load_bytes);

 public:
  // Each wave issues so many for a stage.
  static constexpr unsigned loads = loads_of_a + loads_of_b;
  static_assert(loads * Base::stages_held <= isa::any_vmcnt, "vmcnt cannot count so many loads.");

  TW_DEVICE LdsLoader(const typename Base::Params& params, unsigned thread)
      : Base(params, thread), wave_(isa::shuffle(thread / 64, 0)), lane_(thread % 64) {
    // Swizzles exchange chunks: the chunk of slot s lies where chunk s has its slot.
    const Swizzled swizzled(0);
    const unsigned at = lane_ % line_lanes * lane_bytes;
    const unsigned line = (wave_ * load_lines + lane_ / line_lanes) % 8;
    in_line_ = swizzled.address(line, at / 16) % line_bytes + at % 16;
  }

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const Sources sources = of(tile);
    if (k < sources.direct) {
      issue(stage.tensors(), sources, k);
      isa::s_waitcnt<loads * Base::stages_held, isa::any_lgkmcnt>();
    } else {
      load_by_hand(stage, tile, k);
    }
  }
  // Through registers. Nothing is on its way afterwards.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_by_hand(const Stage& stage, const WorkTile& tile, int k) {
    Base(this->params_, isa::opaque(64 * wave_ + lane_)).load(stage, tile, k);
    isa::s_waitcnt<0, 0>();
  }
  TW_DEVICE void finish() { isa::s_waitcnt<0, isa::any_lgkmcnt>(); }

  // The tile of an operand in the order of global memory, from its first k-tile on: lines side by
  // side, each of contiguous bytes.
  struct Source {
    const unsigned char* first;
    std::int64_t bytes;  // to the end of the matrix
    std::int64_t pitch;  // bytes from line to line
    int left;            // bytes to the end of a line
  };
  struct Sources {
    Source a, b;
    int direct;  // k-tiles before this one can be loaded straight to LDS
  };
  template <class WorkTile>
  TW_DEVICE Sources of(const WorkTile& tile) const {
    const Source a = source<tiling.a_major, tiling.a_type>(this->params_.a,
                                                           tile.first_row(tiling.m), tile.batch);
    const Source b = source<tiling.b_major, tiling.b_type>(this->params_.b,
                                                           tile.first_column(tiling.n), tile.batch);
    const int of_a = direct<tiling.a_major, tiling.a_type, tiling.m>(this->params_.a, a);
    const int of_b = direct<tiling.b_major, tiling.b_type, tiling.n>(this->params_.b, b);
    return {a, b, of_a < of_b ? of_a : of_b};
  }

  // All of the wave's loads of a stage.
  template <class Tensors>
  TW_DEVICE void issue(const Tensors& tensors, const Sources& sources, int k) const {
    issue<tiling.a_major, loads_of_a>(tensors.a, sources.a, k);
    issue<tiling.b_major, loads_of_b>(tensors.b, sources.b, k);
  }

 private:
  template <Major major, ElementType type>
  static TW_DEVICE Source source(const OperandView& view, int first_row, int batch) {
    constexpr unsigned element = bytes_of(type);
    const std::int64_t pitch = (major == Major::K ? view.row_stride : view.k_stride) * element;
    const int rows = view.rows - first_row;
    const int lines = major == Major::K ? rows : view.k;
    const int left = (major == Major::K ? view.k : rows) * static_cast<int>(element);
    return {static_cast<const unsigned char*>(view.data) +
                (batch * view.batch_stride + first_row * view.row_stride) * element,
            (lines - 1) * pitch + left, pitch, left};
  }

  // What a lane reads is aligned to its size, and offsets have 31 bits. Where a line ends within
  // what a lane reads, the k-tile (K-major), or all of them, go through registers.
  template <Major major, ElementType type, unsigned rows>
  static TW_DEVICE int direct(const OperandView& view, const Source& source) {
    constexpr int k = tiling.k();
    constexpr unsigned lines = major == Major::K ? rows : tiling.k();
    const std::int64_t reach = lines * source.pitch + (major == Major::K ? source.left : 0);
    if (view.alignment < lane_bytes || reach >= std::int64_t{out_of_range}) return 0;
    if (source.left % static_cast<int>(lane_bytes) == 0) return (view.k + k - 1) / k;
    if constexpr (major == Major::K) return view.k / k;
    return source.left >= static_cast<int>(rows * bytes_of(type)) ? (view.k + k - 1) / k : 0;
  }

  template <Major major, unsigned count, class Tensor>
  TW_DEVICE void issue(const Tensor& tile, const Source& source, int k) const {
    constexpr unsigned extent = Tensor::template static_extent<0>;
    constexpr unsigned span_k = Tensor::template static_extent<1>;
    static_assert(extent % (waves * load_lines) == 0 && span_k % load_lines == 0,
                  "A load of all waves must not reach over a span.");
    const std::int64_t advance =
        k * (major == Major::K ? std::int64_t{tiling.spans * line_bytes}
                               : source.pitch * static_cast<int>(tiling.k()));
    // An offset reaches all of a line; from the lines of one k to the next the resource moves.
    const std::int64_t moved = major == Major::K ? 0 : advance;
    const std::int64_t bytes = source.bytes - moved;
    const BufferResource resource = {source.first + moved, bytes < out_of_range
                                                               ? static_cast<std::uint32_t>(bytes)
                                                               : out_of_range};
    const int left = major == Major::K ? source.left - static_cast<int>(advance) : source.left;
    const auto pitch = static_cast<std::uint32_t>(source.pitch);
    // Where the lane reads first. One addition leads to each next place, and no register lasts.
    std::uint32_t at = isa::opaque((wave_ * load_lines + lane_ / line_lanes) * pitch + in_line_ +
                                   static_cast<std::uint32_t>(advance - moved));
    // Where a line goes on in other loads, each load asks whether it is still inside.
    constexpr bool asks_once = major == Major::K && tiling.spans == 1;
    if (asks_once && static_cast<int>(in_line_) >= left) at = out_of_range;
    const SharedAddress first = tile.address(0, 0, 0);
    unsigned was_outer = 0, was_inner = 0;
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      const unsigned line = i * waves * load_lines;  // the first of all waves'
      const unsigned span = line / extent, in_span = line % extent;
      // Where that line begins, in lines of memory and in bytes of them.
      const unsigned outer = major == Major::K ? in_span : span * span_k + in_span % span_k;
      const unsigned inner = (major == Major::K ? span : in_span / span_k) * line_bytes;
      at += (outer - was_outer) * pitch + (inner - was_inner);
      was_outer = outer;
      was_inner = inner;
      const bool inside = asks_once || static_cast<int>(inner + in_line_) < left;
      isa::buffer_load_lds<lane_bytes>(first + (i * waves + wave_) * load_bytes, resource,
                                       inside ? at : out_of_range);
    }
  }

 protected:
  static constexpr std::uint32_t out_of_range = 0x80000000u;

  unsigned wave_;
  unsigned lane_;
  unsigned in_line_;  // the byte that this lane reads of its lines
};

}  // namespace tw
