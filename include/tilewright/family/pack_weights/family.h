// Four-bit weights of a checkpoint, packed for products with them: the description of the problem.
#pragma once

#include "tilewright/family/pack_weights/problem.h"
#include "tilewright/launch/byte_tensor.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/layout/packed_weights.h"

namespace tw {

struct PackWeightsFamily {
  using Problem = tw_pack_weights_problem;

  static constexpr const char* format_words[] = {"mxfp4", "nvfp4", "int4", "int4_zeros"};
  static constexpr const char* activation_words[] = {"bf16", "fp16", "fp32", "tf32", "e4m3"};
  static constexpr const char* order_words[] = {"along_k", "awq"};

  static constexpr bool is_int4(const Problem& p) {
    return p.format == TW_INT4 || p.format == TW_INT4_ZEROS;
  }
  static constexpr tw_type scales_type(const Problem& p) {
    return is_int4(p) ? p.activation : p.format == TW_NVFP4 ? TW_E4M3 : TW_S8;
  }
  // Other groups of int4 are packed as those of 128.
  static constexpr PackedWeights layout(const Problem& p) {
    const bool is_kept = !is_int4(p) || p.group == 32 || p.group == 64;
    return {static_cast<WeightFormat>(p.format), static_cast<ElementType>(p.activation),
            is_kept ? static_cast<unsigned>(p.group) : 128};
  }
  static constexpr std::int64_t words(std::int64_t codes) { return (codes + 7) / 8; }
  static constexpr std::int64_t groups(const Problem& p) { return (p.k + p.group - 1) / p.group; }

  static constexpr IntegerField numbers[] = {
      number<&Problem::n>("n", {.meaning = "outputs", .usual = 200}),
      number<&Problem::k>("k", {.meaning = "inputs", .usual = 512}),
      number<&Problem::batch>("batch", {.meaning = "experts", .usual = 1, .initial = 1}),
      choice<&Problem::format>("format", "of the weights: mxfp4, nvfp4, int4 or int4_zeros",
                               format_words, "weight_format"),
      number<&Problem::group>(
          "group", {.meaning = "inputs that share a scale", .usual = 32, .initial = 32, .low = 1}),
      choice<&Problem::activation>("activation", "type of the activations: bf16, fp16 or e4m3",
                                   activation_words, "type"),
      number<&Problem::exponent>(
          "exponent",
          {.meaning = "of mxfp4: packed are weights times 2^-exponent", .low = -127, .limit = 128}),
      choice<&Problem::order>("order", "which codes a word has: along_k or awq", order_words,
                              "code_order"),
      number<&Problem::zero_offset>(
          "zero_offset",
          {.meaning = "what zero points are above what is stored", .low = 0, .limit = 2})};

  static constexpr Rule rules[] = {
      rule(
          [](const Problem& p) {
            if (is_int4(p)) {
              return p.group == 32 || p.group == 64 || p.group % 128 == 0 || p.group == p.k;
            }
            return p.group == (p.format == TW_NVFP4 ? 16 : 32);
          },
          [](const Problem& p) {
            return sentence("group = {}, but groups of {} have {} of k.", p.group,
                            format_words[p.format],
                            is_int4(p)             ? "32, 64, a multiple of 128 or all"
                            : p.format == TW_NVFP4 ? "16"
                                                   : "32");
          }),
      rule([](const Problem& p) { return p.activation != TW_FP32 && p.activation != TW_TF32; },
           [](const Problem& p) {
             return sentence("Weights are packed for activations of bf16, fp16 or e4m3, not of {}.",
                             activation_words[p.activation]);
           }),
      rule([](const Problem& p) { return p.activation != TW_E4M3 || p.format == TW_MXFP4; },
           [](const Problem& p) {
             return sentence(
                 "Weights of {} times their scales are no numbers of e4m3: only MXFP4 "
                 "is packed for activations of e4m3.",
                 format_words[p.format]);
           }),
      rule([](const Problem& p) { return p.exponent == 0 || p.format == TW_MXFP4; },
           [](const Problem& p) {
             return sentence("exponent = {}, but must be 0: only MXFP4 has one.", p.exponent);
           }),
      rule([](const Problem& p) { return p.zero_offset == 0 || p.format == TW_INT4_ZEROS; },
           [](const Problem& p) {
             return sentence("zero_offset = {}, but must be 0: there are no zero points.",
                             p.zero_offset);
           }),
      rule([](const Problem& p) { return p.scales.type == scales_type(p); },
           [](const Problem& p) {
             return sentence("The scales have type {}, but those of {} must be {}.",
                             name_of(static_cast<ElementType>(p.scales.type)),
                             format_words[p.format],
                             name_of(static_cast<ElementType>(scales_type(p))));
           })};

  enum TensorIndex : unsigned { codes, scales, zeros, packed };
  static constexpr TensorField tensors[] = {
      reads<&Problem::codes>("codes",
                             {.title = "the codes",
                              .types = ElementType::S32,
                              .lines = TensorField::Lines::RowsOrColumns,
                              .one = "the matrix of codes"},
                             [](const Problem& p) {
                               if (p.order == TW_CODES_OF_AWQ) {
                                 return TensorExtents{p.batch, words(p.n), p.k};
                               }
                               return TensorExtents{p.batch, p.n, words(p.k)};
                             }),
      reads<&Problem::scales>(
          "scales",
          {.title = "the scales",
           .types = {ElementType::S8, ElementType::E4m3, ElementType::Bf16, ElementType::Fp16},
           .lines = TensorField::Lines::RowsOrColumns,
           .one = "the matrix of scales"},
          [](const Problem& p) {
            return TensorExtents{p.batch, p.n, groups(p)};
          }),
      where([](const Problem& p) { return p.format == TW_INT4_ZEROS; },
            reads<&Problem::zeros>("zeros",
                                   {.title = "the zero points",
                                    .types = ElementType::S32,
                                    .lines = TensorField::Lines::RowsOrColumns,
                                    .one = "the matrix of zero points"},
                                   [](const Problem& p) {
                                     return TensorExtents{p.batch, words(p.n), groups(p)};
                                   })),
      bytes<&Problem::packed>("packed", TensorField::Flow::Written, "the packed weights",
                              "the array of packed weights", [](const Problem& p) {
                                const PackedWeights packed = layout(p);
                                return TensorExtents{
                                    1, saturated_product(p.batch, packed.row_blocks(p.n)),
                                    packed.k_blocks(p.k) * packed.block_bytes()};
                              })};

  static constexpr Description description = {
      "pack_weights", "four-bit weights of a checkpoint, as products with them read them",
      "packs this",   sizeof(Problem),
      numbers,        {},
      rules,          tensors};
};

}  // namespace tw
