// TileIO by threads: elements of fewer than 8 bits, packed in memory along k. In shared memory a
// chunk of 16 bytes begins with 16 of them, as TMA would unpack them, or is of 32 e2m1 where both
// operands are e2m1.
#pragma once

#include "tilewright/io/thread_loader.h"
#include "tilewright/number/element_type.h"

namespace tw {

template <Tiling tiling, unsigned warps, Completion how, unsigned lanes>
class PackedLoader : public ThreadLoader<tiling, PlainCopy, warps, how, lanes> {
  using Base = ThreadLoader<tiling, PlainCopy, warps, how, lanes>;

 public:
  TW_DEVICE PackedLoader(const typename Base::Params& params, unsigned thread)
      : Base(params, thread) {}

  // k counts stages.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const auto tensors = stage.tensors();
    copy<tiling.a_type>(tensors.a, this->params_.a, tile.first_row(tiling.m), k, tile.batch);
    copy<tiling.b_type>(tensors.b, this->params_.b, tile.first_column(tiling.n), k, tile.batch);
  }

 private:
  static constexpr int of_unit = tiling.is_packed() ? 2 : 1;  // elements
  static constexpr int elements = 16 * of_unit;               // in a chunk
  static constexpr unsigned at_once =
      4;  // chunks of a thread whose loads are on their way together

  struct Fetched {
    std::uint32_t words[4];
  };

  template <ElementType type, class Tensor>
  TW_DEVICE void copy(const Tensor& tile, const OperandView& view, int first_row, int stage,
                      int batch) {
    Fetched fetched[at_once];
    this->template each_chunk<Major::K, at_once>(
        tile, first_row, stage * static_cast<int>(tiling.k()) / of_unit,
        [&](unsigned i, SharedAddress, int row, int unit) {
          fetched[i] = fetch<type>(view, row, unit * of_unit, batch);
        },
        [&](unsigned i, SharedAddress to) { isa::store_shared_16(to, fetched[i].words); });
  }

  // Lines begin at whole bytes. What lies behind k is zero.
  template <ElementType type>
  static TW_DEVICE Fetched fetch(const OperandView& view, int row, int k, int batch) {
    constexpr int bits = bits_in(type);
    constexpr int bytes = elements * bits / 8;
    Fetched fetched = {};
    const int inside = row < view.rows ? (view.k - k) * bits : 0;
    if (inside <= 0) return fetched;
    const std::int64_t first = batch * view.batch_stride + row * view.row_stride + k;
    const auto* const from = static_cast<const std::uint8_t*>(view.data) + first * bits / 8;
    if (inside >= 8 * bytes && reinterpret_cast<std::uintptr_t>(from) % 4 == 0) {
      TW_UNROLL
      for (int i = 0; i < bytes / 4; ++i) {
        fetched.words[i] =
            load_element<Space::Global>(reinterpret_cast<const std::uint32_t*>(from) + i);
      }
      return fetched;
    }
    TW_UNROLL
    for (int i = 0; i < bytes; ++i) {
      if (8 * i >= inside) continue;
      std::uint32_t byte = load_element<Space::Global>(from + i);
      if (8 * i + 8 > inside) byte &= (1u << (inside - 8 * i)) - 1;
      fetched.words[i / 4] |= byte << i % 4 * 8;
    }
    return fetched;
  }
};

}  // namespace tw
