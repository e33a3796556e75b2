// Quantising to the block-scaled formats: the description of its problem.
#pragma once

#include "tilewright/family/block_quantise/problem.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/scale_bytes.h"

namespace tw {

struct BlockQuantiseFamily {
  using Problem = tw_block_quantise_problem;

  static constexpr const char* rule_words[] = {"floor", "rceil"};
  static constexpr ScaleType scale_type(const Problem& p) {
    return static_cast<ScaleType>(p.scale);
  }
  static constexpr ScaleExtent scale_extent(const Problem& p) {
    return ScaleExtent::of(p.m, p.k, scale_type(p));
  }

  static constexpr IntegerField numbers[] = {
      number<&Problem::m>("m", {.meaning = "rows", .usual = 200}),
      number<&Problem::k>("k", {.meaning = "columns", .usual = 512}), scale_choice<&Problem::scale>,
      choice<&Problem::rule>("rule", "of scales of ue8m0: floor or rceil", rule_words,
                             "scale_rule"),
      scale_order_choice<&Problem::scale_order>};
  static constexpr RealField reals[] = {
      real<&Problem::tensor_scale>("tensor_scale", "of NVFP4: what the source is divided by", 1.0)};

  static constexpr Rule rules[] = {scales_suit<&Problem::elements, &Problem::scale>,
                                   rule([](const Problem& p) { return p.tensor_scale > 0.0f; },
                                        [](const Problem& p) {
                                          return sentence("tensor_scale = {} must be above 0.",
                                                          p.tensor_scale);
                                        })};

  enum TensorIndex : unsigned { source, elements, scales };
  static constexpr TensorField tensors[] = {
      reads<&Problem::source>("source",
                              {.title = "the source",
                               .types = {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32}},
                              [](const Problem& p) {
                                return TensorExtents{1, p.m, p.k};
                              }),
      writes<&Problem::elements>(
          "elements",
          {.title = "the elements", .types = scaled_types, .one = "the matrix of elements"},
          [](const Problem& p) {
            return TensorExtents{1, p.m, p.k};
          }),
      bytes<&Problem::scales>(
          "scales", TensorField::Flow::Written, "the scales", "the array of scales",
          [](const Problem& p) { return scale_bytes(scale_extent(p), 1, p.scale_order); })};

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
