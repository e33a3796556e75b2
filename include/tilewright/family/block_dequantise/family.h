// The numbers that block-scaled elements stand for: the description of the problem.
#pragma once

#include "tilewright/family/block_dequantise/problem.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/scale_bytes.h"

namespace tw {

struct BlockDequantiseFamily {
  using Problem = tw_block_dequantise_problem;

  static constexpr ScaleType scale_type(const Problem& p) {
    return static_cast<ScaleType>(p.scale);
  }
  static constexpr ScaleExtent scale_extent(const Problem& p) {
    return ScaleExtent::of(p.m, p.k, scale_type(p));
  }

  static constexpr IntegerField numbers[] = {
      number<&Problem::m>("m", {.meaning = "rows", .usual = 200}),
      number<&Problem::k>("k", {.meaning = "columns", .usual = 512}), scale_choice<&Problem::scale>,
      scale_order_choice<&Problem::scale_order>};
  static constexpr RealField reals[] = {real<&Problem::tensor_scale>(
      "tensor_scale", "of NVFP4: what everything is multiplied with", 1.0)};
  static constexpr Rule rules[] = {scales_suit<&Problem::elements, &Problem::scale>};

  enum TensorIndex : unsigned { elements, scales, values };
  static constexpr TensorField tensors[] = {
      reads<&Problem::elements>(
          "elements",
          {.title = "the elements", .types = scaled_types, .one = "the matrix of elements"},
          [](const Problem& p) {
            return TensorExtents{1, p.m, p.k};
          }),
      bytes<&Problem::scales>(
          "scales", TensorField::Flow::Read, "the scales", "the array of scales",
          [](const Problem& p) { return scale_bytes(scale_extent(p), 1, p.scale_order); }),
      writes<&Problem::values>("values",
                               {.title = "the values",
                                .types = {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32},
                                .one = "the matrix of values"},
                               [](const Problem& p) {
                                 return TensorExtents{1, p.m, p.k};
                               })};

  static constexpr Description description = {"block_dequantise",
                                              "the numbers that block-scaled elements stand for",
                                              "dequantises this",
                                              sizeof(Problem),
                                              numbers,
                                              reals,
                                              rules,
                                              tensors};
};

}  // namespace tw
