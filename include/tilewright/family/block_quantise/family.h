// Quantising to the block-scaled formats: the description of its problem.
#pragma once

#include "tilewright/family/block_quantise/problem.h"
#include "tilewright/family/byte_tensor.h"
#include "tilewright/number/scale_blocks.h"

namespace tw {

struct BlockQuantiseFamily {
  using Problem = tw_block_quantise_problem;

  static constexpr const char* scale_words[] = {name_of(ScaleType::Ue8m0),
                                                name_of(ScaleType::Ue4m3)};
  static constexpr const char* rule_words[] = {"floor", "rceil"};
  static constexpr const char* order_words[] = {"blocks", "rows"};
  static constexpr ScaleType scale_type(const Problem& p) {
    return static_cast<ScaleType>(p.scale);
  }
  static constexpr ScaleExtent scale_extent(const Problem& p) {
    return ScaleExtent::of(p.m, p.k, scale_type(p));
  }

  static constexpr IntegerField numbers[] = {
      number<&Problem::m>("m", {.meaning = "rows", .usual = 200}),
      number<&Problem::k>("k", {.meaning = "columns", .usual = 512}),
      choice<&Problem::scale>("scale", "type of the scales: ue8m0 or ue4m3", scale_words,
                              "scale_type"),
      choice<&Problem::rule>("rule", "of scales of ue8m0: floor or rceil", rule_words,
                             "scale_rule"),
      choice<&Problem::scale_order>("scale_order", "where scales lie: in blocks or rows",
                                    order_words, "scale_order")};
  static constexpr RealField reals[] = {
      real<&Problem::tensor_scale>("tensor_scale", "of NVFP4: what the source is divided by", 1.0)};

  static constexpr Rule rules[] = {
      rule(
          [](const Problem& p) {
            return scale_type(p) == ScaleType::Ue8m0 || p.elements.type == TW_E2M1;
          },
          [](const Problem& p) {
            return sentence("The elements have type {}, but those with scales of ue4m3 are e2m1.",
                            name_of(static_cast<ElementType>(p.elements.type)));
          }),
      rule([](const Problem& p) { return p.tensor_scale > 0.0f; },
           [](const Problem& p) {
             return sentence("tensor_scale = {} must be above 0.", p.tensor_scale);
           })};

  enum TensorIndex : unsigned { source, elements, scales };
  static constexpr TensorField tensors[] = {
      reads<&Problem::source>("source",
                              {.title = "the source",
                               .types = {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32}},
                              [](const Problem& p) {
                                return TensorExtents{1, p.m, p.k};
                              }),
      writes<&Problem::elements>("elements",
                                 {.title = "the elements",
                                  .types = {ElementType::E4m3, ElementType::E5m2, ElementType::E2m1,
                                            ElementType::E2m3, ElementType::E3m2},
                                  .one = "the matrix of elements"},
                                 [](const Problem& p) {
                                   return TensorExtents{1, p.m, p.k};
                                 }),
      bytes<&Problem::scales>(
          "scales", TensorField::Flow::Written, "the scales", "the array of scales",
          [](const Problem& p) {
            const ScaleExtent extent = scale_extent(p);
            if (p.scale_order == TW_SCALES_IN_ROWS)
              return TensorExtents{1, extent.rows, extent.scales};
            return TensorExtents{1, extent.row_blocks(), extent.k_blocks() * ScaleBlock::bytes};
          })};

  static constexpr Description description = {"block_quantise",
                                              "elements and scales of a matrix, for block_scaled",
                                              "quantises this",
                                              sizeof(Problem),
                                              numbers,
                                              reals,
                                              rules,
                                              tensors};
};

}  // namespace tw
