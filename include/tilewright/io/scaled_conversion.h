// TileIO by threads: elements with block scales, each multiplied by its scale, as bf16. These have
// 8 significant bits, more than an element and its scale have together, so that this is exact, but
// for products outside of bf16's range.
#pragma once

#include <bit>

#include "tilewright/io/thread_loader.h"
#include "tilewright/isa/convert.h"
#include "tilewright/number/element_type.h"
#include "tilewright/number/scale_blocks.h"
#include "tilewright/number/ue8m0.h"

namespace tw {

// How codes of a format become numbers, with the format known at run time.
struct CodeFormat {
  unsigned bits;
  unsigned mantissa_bits;
  std::uint32_t max_code;       // codes above it are infinity, where they are that one, or NaN
  std::uint32_t infinity_code;  // one that no magnitude has, where there is no infinity
  float unit;                   // what the bits as those of a float32 are multiplied with

  static constexpr CodeFormat of(const FloatFormat& format) {
    const bool has_infinity = format.specials == Specials::infinity_and_nan;
    return {static_cast<unsigned>(format.bits()), static_cast<unsigned>(format.mantissa_bits),
            format.max_code(), has_infinity ? format.infinity_code() : ~0u,
            std::bit_cast<float>(std::uint32_t(float32::bias + float32::bias - format.bias)
                                 << float32::mantissa_bits)};
  }
  static constexpr CodeFormat of(ElementType type) {
    switch (type) {
      case ElementType::E4m3: return of(e4m3_format);
      case ElementType::E5m2: return of(e5m2_format);
      case ElementType::E2m3: return of(e2m3_format);
      case ElementType::E3m2: return of(e3m2_format);
      default: return of(e2m1_format);
    }
  }
  // Of a code whose highest bit is the sign.
  TW_DEVICE float value(std::uint32_t code) const {
    const std::uint32_t sign = code >> (bits - 1), magnitude = code ^ sign << (bits - 1);
    float value =
        std::bit_cast<float>(magnitude << (float32::mantissa_bits - mantissa_bits)) * unit;
    if (magnitude > max_code) {
      std::uint32_t special = float32::canonical_nan;
      if (magnitude == infinity_code) special = float32::infinity;
      value = std::bit_cast<float>(special);
    }
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign << 31);
  }
};

TW_DEVICE float scale_value(ScaleType type, std::uint8_t code) {
  return type == ScaleType::Ue8m0 ? static_cast<float>(Ue8m0::from_bits(code))
                                  : static_cast<float>(Ue4m3::from_bits(code));
}

// `shares_a`: all matrices of the batch have one A, whose scales are there once.
template <Tiling tiling, unsigned warps, Completion how, bool shares_a = false>
class ScaledConversion : public ThreadLoader<tiling, PlainCopy, warps, how> {
  using Base = ThreadLoader<tiling, PlainCopy, warps, how>;

 public:
  // The scales of an operand, and what its elements are.
  struct Scaled {
    CodeFormat format;
    const std::uint8_t* scales;
    ScaleExtent extent;  // of one matrix of the batch
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
  static constexpr int elements = 8;  // of a chunk of 16 bytes; they share a scale

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
