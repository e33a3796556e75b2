// TileIO by threads: elements with block scales, each multiplied by its scale, as bf16. These have
// 8 significant bits, more than an element and its scale have together, so that this is exact, but
// for products outside of bf16's range.
#pragma once

#include "tilewright/io/thread_loader.h"
#include "tilewright/isa/convert.h"
#include "tilewright/number/code_format.h"
#include "tilewright/number/scale_blocks.h"

namespace tw {

// `shares_a`: all matrices of the batch have one A, whose scales are there once.
template <Tiling tiling, unsigned warps, Completion how, bool shares_a = false, unsigned lanes = 32>
class ScaledConversion : public ThreadLoader<tiling, PlainCopy, warps, how, lanes> {
  using Base = ThreadLoader<tiling, PlainCopy, warps, how, lanes>;

 public:
  // The scales of an operand, and what its elements are.
  struct Scaled {
    CodeFormat format;
    const std::uint8_t* scales;
    ScaleExtent extent;  // one matrix of the batch
  };
  struct Params : Base::Params {
    Scaled a_scaled;
    Scaled b_scaled;
    ScaleType scale_type;
  };
  TW_DEVICE ScaledConversion(const Params& params, unsigned thread) : Base(params, thread) {}

  // k counts stages.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    load_rows(stage, tile, k, [](int row) { return row; });
  }

 protected:
  // Row i of A's tile is row_of(i) of the matrix, or zero where that has no such row.
  template <StageToFill Stage, class WorkTile, class RowOf>
  TW_DEVICE void load_rows(const Stage& stage, const WorkTile& tile, int k, const RowOf& row_of) {
    const auto& params = static_cast<const Params&>(this->params_);
    const auto tensors = stage.tensors();
    const int first_k = k * static_cast<int>(tiling.k());
    convert(tensors.a, params.a, params.a_scaled, tile.first_row(tiling.m), first_k,
            shares_a ? 0 : tile.batch, row_of);
    convert(tensors.b, params.b, params.b_scaled, tile.first_column(tiling.n), first_k, tile.batch,
            [](int row) { return row; });
  }

 private:
  static constexpr int elements = 8;  // elements in a chunk of 16 bytes; they share a scale

  template <class Tensor, class RowOf>
  TW_DEVICE void convert(const Tensor& tile, const OperandView& view, const Scaled& scaled,
                         int first_row, int first_k, int batch, const RowOf& row_of) {
    const ScaleType type = static_cast<const Params&>(this->params_).scale_type;
    const std::uint8_t* const scales = scaled.scales + batch * scaled.extent.bytes();
    this->template each_chunk<Major::K>(
        tile, first_row, first_k, [&](SharedAddress destination, int tile_row, int k) {
          const int row = row_of(tile_row);
          const int count = row >= 0 && row < view.rows ? view.k - k : 0;
          std::uint32_t words[elements / 2] = {};
          if (count > 0) {
            const auto place = scaled.extent.place(row, k / static_cast<int>(block_of(type)));
            const float scale = scale_value(type, load_element<Space::Global>(scales + place));
            const std::int64_t first =
                batch * view.batch_stride + row * view.row_stride + k * view.k_stride;
            const auto value = [&](int i) {
              return i < count ? scale * element(view, scaled.format, first + i * view.k_stride)
                               : 0.0f;
            };
            TW_UNROLL
            for (int i = 0; i < elements; i += 2) {
              words[i / 2] = isa::cvt_bf16x2(value(i), value(i + 1));
            }
          }
          isa::store_shared_16(destination, words);
        });
  }
  // `at` counts elements from the first.
  static TW_DEVICE float element(const OperandView& view, const CodeFormat& format,
                                 std::int64_t at) {
    const auto* const bytes = static_cast<const std::uint8_t*>(view.data);
    const std::int64_t bit = at * format.bits;
    const unsigned shift = static_cast<unsigned>(bit % 8);
    std::uint32_t window = load_element<Space::Global>(bytes + bit / 8);
    // The next byte is read only where the element reaches into it: it may lie behind the end.
    if (shift + format.bits > 8) {
      window |= std::uint32_t{load_element<Space::Global>(bytes + bit / 8 + 1)} << 8;
    }
    return format.value(window >> shift & ((1u << format.bits) - 1));
  }
};

}  // namespace tw
