// TileIO by threads: a stage of A and B, copied in chunks of 16 bytes into the same swizzled lines
// that TMA would write, so that any TileOp reads them. `Copy` says how a chunk travels.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/contracts.h"
#include "tilewright/io/operand.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/layout/access.h"

namespace tw {

// Element by element through registers: any stride, any alignment, and shared memory is K-major
// whatever the matrix is.
struct PlainCopy {
  static constexpr bool keeps_major = false;
  static constexpr unsigned least_alignment = 1;
  // Chunks that a thread fetches before it stores the first, and those of a whole stage that it may
  // fetch together; 0: each goes to shared memory by itself.
  static constexpr unsigned at_once = 0, most_at_once = 0;

  template <class T>
  static TW_DEVICE void chunk(SharedAddress destination, const T* first, std::int64_t step,
                              int count, unsigned /*alignment*/) {
    gather<T>(destination, [&](int i) {
      return i < count ? load_element<Space::Global>(first + i * step) : T{};
    });
  }
  // element(i) is the chunk's element i.
  template <class T, class Element>
  static TW_DEVICE void gather(SharedAddress destination, const Element& element) {
    std::uint32_t words[4] = {};
    constexpr int elements = 16 / sizeof(T);
    TW_UNROLL
    for (int i = 0; i < elements; ++i) {
      words[i * sizeof(T) / 4] |= std::uint32_t{element(i)} << (i * sizeof(T) % 4 * 8);
    }
    isa::store_shared_16(destination, words);
  }
};

// `warps` of the load role take part, each of `lanes`. `how` the arrival is announced: by the
// copies themselves, or by the warps when their copies are done.
template <Tiling tiling, class Copy, unsigned warps, Completion how, unsigned lanes = 32>
class ThreadLoader : public UsualLoader {
 protected:
  static constexpr unsigned threads = warps * lanes;

 public:
  static constexpr bool elected = false;
  static constexpr Completion completion = how;
  static constexpr unsigned arrivals = how == Completion::CopiesArrive ? threads : warps;
  // Copies in flight when load() returns, where the warps have to wait for them.
  static constexpr bool asynchronous = Copy::keeps_major;
  static constexpr unsigned stages_held = asynchronous && how != Completion::CopiesArrive ? 1 : 0;
  static constexpr unsigned least_alignment = Copy::least_alignment;
  static constexpr Tiling in_shared() {
    Tiling result = tiling;
    if (!Copy::keeps_major) result.a_major = result.b_major = Major::K;
    return result;
  }

  struct Params {
    OperandView a;
    OperandView b;
  };

  TW_DEVICE ThreadLoader(const Params& params, unsigned thread)
      : thread_(thread), params_(params) {}

  // k counts stages.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    load_rows(stage, tile, k, [](int row) { return row; });
  }
  // After the last stage: all copies have landed.
  TW_DEVICE void finish() {
    if constexpr (stages_held > 0) Copy::template wait<0>();
  }

 protected:
  template <unsigned bytes>
  using Bits = std::conditional_t<bytes == 1, std::uint8_t,
                                  std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>>;

  // Row i of A's tile is row_of(i) of the matrix, or zero where that has no such row.
  template <StageToFill Stage, class WorkTile, class RowOf>
  TW_DEVICE void load_rows(const Stage& stage, const WorkTile& tile, int k, const RowOf& row_of) {
    const auto tensors = stage.tensors();
    const int first_k = k * static_cast<int>(tiling.k());
    const auto same = [](int row) { return row; };
    const auto a = operand<in_shared().a_major>(tensors.a, params_.a, tile.first_row(tiling.m),
                                                first_k, tile.batch, row_of);
    const auto b = operand<in_shared().b_major>(tensors.b, params_.b, tile.first_column(tiling.n),
                                                first_k, tile.batch, same);
    if constexpr (loads_together<decltype(a), decltype(b)>()) {
      typename Copy::Fetched of_a[decltype(a)::chunks], of_b[decltype(b)::chunks];
      fetch(of_a, a);
      fetch(of_b, b);
      store(of_a, a);
      store(of_b, b);
    } else {
      copy(a);
      copy(b);
    }
    if constexpr (stages_held > 0) {
      Copy::commit();
      Copy::template wait<stages_held>();
    }
  }

  // A alone.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_a(const Stage& stage, const WorkTile& tile, int k) {
    const auto same = [](int row) { return row; };
    const auto tensors = stage.tensors();
    copy(operand<in_shared().a_major>(tensors.a, params_.a, tile.first_row(tiling.m),
                                      k * static_cast<int>(tiling.k()), tile.batch, same));
  }

  // Calls body(destination, row, k) for each of this thread's chunks of a tile (row,k,span); a line
  // is 128 bytes along k (K-major), or of one k (MN-major).
  template <Major major, class Tensor, class Body>
  TW_DEVICE void each_chunk(const Tensor& tile, int first_row, int first_k, const Body& body) {
    each_chunk<major, 1>(
        tile, first_row, first_k,
        [&](unsigned, SharedAddress destination, int row, int k) { body(destination, row, k); },
        [](unsigned, SharedAddress) {});
  }
  // Calls body(i, destination, row, k) for up to `at_once` chunks, then done(i, destination) for
  // the same ones, and so on.
  template <Major major, unsigned at_once, class Tensor, class Body, class Done>
  TW_DEVICE void each_chunk(const Tensor& tile, int first_row, int first_k, const Body& body,
                            const Done& done) {
    constexpr unsigned bytes = sizeof(typename Tensor::Value);
    const auto lines = tile.template as<Chunk<16>, lines_of(Tensor::tensor_layout(), bytes)>();
    constexpr unsigned num_lines = decltype(lines)::template static_extent<0>;
    constexpr unsigned chunks_of_line = decltype(lines)::template static_extent<1>;
    constexpr unsigned extent = Tensor::template static_extent<0>;
    constexpr unsigned elements = 16 / bytes;
    constexpr unsigned span_k = Tensor::template static_extent<1>;
    constexpr unsigned step = threads / chunks_of_line;
    // The same of every line that the thread touches.
    const unsigned chunk = thread_ % chunks_of_line;
    const auto visit = [&](unsigned i, unsigned line) {
      const SharedAddress destination = lines.address(line, chunk);
      const unsigned span = line / extent, in_span = line % extent;
      if constexpr (major == Major::K) {
        body(i, destination, first_row + static_cast<int>(in_span),
             first_k + static_cast<int>(span * span_k + chunk * elements));
      } else {
        body(i, destination,
             first_row + static_cast<int>(in_span / span_k * span_k + chunk * elements),
             first_k + static_cast<int>(span * span_k + in_span % span_k));
      }
    };
    for (unsigned line = thread_ / chunks_of_line; line < num_lines; line += at_once * step) {
      TW_UNROLL
      for (unsigned i = 0; i < at_once; ++i) {
        if (line + i * step < num_lines) visit(i, line + i * step);
      }
      TW_UNROLL
      for (unsigned i = 0; i < at_once; ++i) {
        if (line + i * step < num_lines) done(i, lines.address(line + i * step, chunk));
      }
    }
  }

 private:
  // A tile of one operand that is copied: `lines` of it and where it lies in the matrix.
  template <Major major_, class Tensor, class RowOf>
  struct Copied {
    static constexpr Major major = major_;
    using T = Bits<sizeof(typename Tensor::Value)>;
    static constexpr int elements = 16 / sizeof(T);
    // What each thread copies.
    static constexpr unsigned chunks =
        (Tensor::template static_extent<0> * Tensor::template static_extent<1> *
             Tensor::template static_extent<2> / elements +
         threads - 1) /
        threads;
    const Tensor& tile;
    const OperandView& view;
    int first_row, first_k;
    const T* base;
    const RowOf& row_of;

    // Calls use(first, count) with the first element of a chunk, and how many of it lie inside.
    template <class Use>
    TW_DEVICE void chunk_at(int tile_row, int k, const Use& use) const {
      const int row = row_of(tile_row);
      int inside;
      if constexpr (major == Major::K) {
        inside = row >= 0 && row < view.rows ? view.k - k : 0;
      } else {
        inside = k < view.k ? view.rows - row : 0;
      }
      const int count = inside < 0 ? 0 : inside < elements ? inside : elements;
      use(count > 0 ? base + row * view.row_stride + k * view.k_stride : base, count);
    }
    TW_DEVICE auto fetched(int tile_row, int k) const {
      typename Copy::Fetched result;
      chunk_at(tile_row, k, [&](const T* first, int count) {
        if constexpr (Copy::most_at_once > 0) {
          const T* const end =
              base + (view.rows - 1) * view.row_stride + (view.k - 1) * view.k_stride + 1;
          result = Copy::fetch(first, view.k_stride, count, base, end);
        } else {
          result = Copy::fetch(first, view.k_stride, count);
        }
      });
      return result;
    }
  };
  template <Major major, class Tensor, class RowOf>
  static TW_DEVICE Copied<major, Tensor, RowOf> operand(const Tensor& tile, const OperandView& view,
                                                        int first_row, int first_k, int batch,
                                                        const RowOf& row_of) {
    using T = typename Copied<major, Tensor, RowOf>::T;
    return {tile,
            view,
            first_row,
            first_k,
            static_cast<const T*>(view.data) + batch * view.batch_stride,
            row_of};
  }
  // Whether a thread's loads of a whole stage are on their way together.
  template <class A, class B>
  static consteval bool loads_together() {
    return A::chunks + B::chunks <= Copy::most_at_once;
  }

  template <class Fetched, unsigned count, class Operand>
  TW_DEVICE void fetch(Fetched (&fetched)[count], const Operand& of) {
    each_chunk<Operand::major, count>(
        of.tile, of.first_row, of.first_k,
        [&](unsigned i, SharedAddress, int row, int k) { fetched[i] = of.fetched(row, k); },
        [](unsigned, SharedAddress) {});
  }
  template <class Fetched, unsigned count, class Operand>
  TW_DEVICE void store(const Fetched (&fetched)[count], const Operand& of) {
    each_chunk<Operand::major, count>(
        of.tile, of.first_row, of.first_k, [](unsigned, SharedAddress, int, int) {},
        [&](unsigned i, SharedAddress destination) { Copy::store(destination, fetched[i]); });
  }
  template <class Operand>
  TW_DEVICE void copy(const Operand& of) {
    if constexpr (Copy::at_once > 0) {
      typename Copy::Fetched fetched[Copy::at_once];
      each_chunk<Operand::major, Copy::at_once>(
          of.tile, of.first_row, of.first_k,
          [&](unsigned i, SharedAddress, int row, int k) { fetched[i] = of.fetched(row, k); },
          [&](unsigned i, SharedAddress destination) { Copy::store(destination, fetched[i]); });
    } else {
      each_chunk<Operand::major>(
          of.tile, of.first_row, of.first_k, [&](SharedAddress destination, int row, int k) {
            of.chunk_at(row, k, [&](const auto* first, int count) {
              Copy::chunk(destination, first, of.view.k_stride, count, of.view.alignment);
            });
          });
    }
  }

  unsigned thread_;

 protected:
  const Params& params_;
};

}  // namespace tw
