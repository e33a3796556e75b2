// Block scales in descriptions: their types, where they lie, and which elements they are for.
#pragma once

#include "tilewright/launch/byte_tensor.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/number/scale_blocks.h"
#include "tilewright/scale_type.h"

namespace tw {

inline constexpr Types scaled_types = {ElementType::E4m3, ElementType::E5m2, ElementType::E2m1,
                                       ElementType::E2m3, ElementType::E3m2};
inline constexpr const char* scale_words[] = {name_of(ScaleType::Ue8m0), name_of(ScaleType::Ue4m3)};
inline constexpr const char* scale_order_words[] = {"blocks", "rows"};

template <auto path>
inline constexpr IntegerField scale_choice = choice<path>("scale",
                                                          "type of the scales: ue8m0 or ue4m3",
                                                          scale_words, "scale_type");
template <auto path>
inline constexpr IntegerField scale_order_choice = choice<path>(
    "scale_order", "where scales lie: in blocks or rows", scale_order_words, "scale_order");

// Scales of ue4m3 are for e2m1.
template <auto elements, auto scale>
inline constexpr Rule scales_suit = rule(
    [](const detail::ProblemAt<elements>& p) {
      return p.*scale == TW_UE8M0 || (p.*elements).type == TW_E2M1;
    },
    [](const detail::ProblemAt<elements>& p) {
      return sentence("The elements have type {}, but those with scales of ue4m3 are e2m1.",
                      name_of(static_cast<ElementType>((p.*elements).type)));
    });

// The bytes of scales of a whole batch, whose matrices lie one behind the other.
constexpr TensorExtents scale_bytes(const ScaleExtent& extent, std::int64_t batch,
                                    tw_scale_order order = TW_SCALES_IN_BLOCKS) {
  if (order == TW_SCALES_IN_ROWS) return {1, batch * extent.rows, extent.scales};
  return {1, batch * extent.row_blocks(), extent.k_blocks() * ScaleBlock::bytes};
}

}  // namespace tw
