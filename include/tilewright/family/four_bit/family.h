// Activations by weights of four bits: the description of their problem.
#pragma once

#include <algorithm>

#include "tilewright/family/four_bit/problem.h"
#include "tilewright/launch/byte_tensor.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/product_fields.h"
#include "tilewright/layout/packed_weights.h"

namespace tw {

struct FourBitFamily {
  using Problem = tw_four_bit_problem;
  static constexpr const char* format_words[] = {"mxfp4", "nvfp4", "int4", "int4_zeros"};

  static constexpr PackedWeights packed(const Problem& p) {
    return {static_cast<WeightFormat>(p.format), static_cast<ElementType>(p.a.type),
            static_cast<unsigned>(p.scale_group)};
  }
  // Sums of packed weights lack a factor of 2 to this power.
  static constexpr int exponent(const Problem& p) {
    return p.format == TW_NVFP4 ? 8 : static_cast<int>(p.exponent);
  }
  // Rows of all groups, or of each matrix of a batch.
  static constexpr bool in_groups(const Problem& p) { return p.rows != nullptr; }
  static constexpr bool is_scaled(const Problem& p) { return p.a_scales.data != nullptr; }
  static constexpr bool is_gathered(const Problem& p) { return p.row_index != nullptr; }
  static constexpr std::int64_t rows_of_a(const Problem& p) {
    return is_gathered(p) ? p.a_rows : p.m;
  }
  static constexpr bool is_empty(const Problem& p) { return std::min({p.m, p.n, p.batch}) == 0; }
  static constexpr std::int64_t matrices(const Problem& p) {
    return in_groups(p) ? std::min<std::int64_t>(p.batch, 1) : p.batch;
  }
  static constexpr bool has_group(const Problem& p) {
    if (p.format == TW_MXFP4) return p.scale_group == 32;
    if (p.format == TW_NVFP4) return p.scale_group == 16;
    return p.scale_group == 32 || p.scale_group == 64 || p.scale_group == 128;
  }

  static constexpr IntegerField numbers[] = {
      number<&Problem::m>("m", {.meaning = "rows of A and D", .usual = 16}),
      number<&Problem::n>("n", {.meaning = "columns of W and D", .usual = 200}),
      number<&Problem::k>("k", {.meaning = "columns of A, rows of W", .usual = 200}),
      number<&Problem::batch>(
          "batch", {.meaning = "products side by side, or groups", .usual = 1, .initial = 1}),
      choice<&Problem::format>("format", "of the weights: mxfp4, nvfp4, int4 or int4_zeros",
                               format_words, "weight_format"),
      number<&Problem::scale_group>("scale_group", {.meaning = "of k that share a scale",
                                                    .usual = 32,
                                                    .initial = 32,
                                                    .low = 16,
                                                    .limit = 129}),
      number<&Problem::exponent>("exponent", {.meaning = "weights were packed times 2^-exponent",
                                              .low = -127,
                                              .limit = 128,
                                              .title = "The exponent of the weights"}),
      number<&Problem::capacity>("capacity",
                                 {.meaning = "rows that each group has room for; 0: its own",
                                  .low = INT64_MIN,
                                  .limit = INT64_MAX}),
      number<&Problem::a_rows>("a_rows", {.meaning = "rows of A, where an instance gathers them",
                                          .usual = 100,
                                          .low = INT64_MIN,
                                          .limit = INT64_MAX}),
      flag<&Problem::weights_are_constant>("weights_are_constant",
                                           "nothing before this on the stream writes the weights")};

  static constexpr Rule rules[] = {
      rule([](const Problem& p) { return has_group(p); },
           [](const Problem& p) {
             return sentence("{} of k share a scale, but of {} it is {}.", p.scale_group,
                             format_words[p.format],
                             p.format == TW_MXFP4   ? "32"
                             : p.format == TW_NVFP4 ? "16"
                                                    : "32, 64 or 128");
           }),
      rule([](const Problem& p) { return p.format == TW_MXFP4 || p.exponent == 0; },
           [](const Problem& p) {
             return sentence("The exponent of the weights is {}, but only of mxfp4 it may be set.",
                             p.exponent);
           }),
      rule([](const Problem& p) { return !is_scaled(p) || p.a.type == TW_E4M3; },
           [](const Problem& p) {
             return sentence("A has scales of 128 of k and type {}, but only e4m3 has such scales.",
                             name_of(static_cast<ElementType>(p.a.type)));
           }),
      rule(
          [](const Problem& p) { return !is_scaled(p) || !in_groups(p); },
          [](const Problem&) { return std::string("Rows in groups have no scales of 128 of k."); }),
      rule([](const Problem& p) { return in_groups(p) || (p.capacity == 0 && !is_gathered(p)); },
           [](const Problem&) {
             return std::string(
                 "A capacity and a row index are those of rows in groups, but there are none.");
           }),
      rule([](const Problem& p) { return p.capacity >= 0 && p.capacity < std::int64_t{1} << 31; },
           [](const Problem& p) {
             return sentence("The capacity is {} rows, but must be at least 0 and below 2^31.",
                             p.capacity);
           }),
      rule(
          [](const Problem& p) {
            return p.capacity == 0 || is_empty(p) || p.capacity * p.batch == p.m;
          },
          [](const Problem& p) {
            return sentence(
                "m is {}, but must be the capacity, {} rows, times the number of groups, {}.", p.m,
                p.capacity, p.batch);
          }),
      rule(
          [](const Problem& p) {
            return !is_gathered(p) || is_empty(p) ||
                   (p.a_rows >= 1 && p.a_rows < std::int64_t{1} << 31);
          },
          [](const Problem& p) {
            return sentence(
                "Rows are gathered from {} rows of A, but must be from at least 1 and below 2^31.",
                p.a_rows);
          })};

  // Kernels count their elements with 31 bits, and load single ones, as those of scale_fields.h.
  static constexpr TensorField scales_of_a = [] {
    TensorField field =
        where([](const Problem& p) { return is_scaled(p); },
              reads<&Problem::a_scales>(
                  "a_scales",
                  {.title = "the scales of A",
                   .types = ElementType::Fp32,
                   .lines = TensorField::Lines::RowsOrColumns},
                  [](const Problem& p) {
                    return TensorExtents{p.batch, p.m, PackedWeights::k_blocks(p.k)};
                  }));
    field.reach = std::int64_t{1} << 31;
    field.is_small = true;
    return field;
  }();

  enum TensorIndex : unsigned { a, weights, rows, row_index, a_scales, d };
  static constexpr Types types = {ElementType::Bf16, ElementType::Fp16};
  static constexpr Types a_types = {ElementType::Bf16, ElementType::Fp16, ElementType::E4m3};
  static constexpr TensorField tensors[] = {
      reads<&Problem::a>("a", {.title = "A", .types = a_types},
                         [](const Problem& p) {
                           return TensorExtents{matrices(p), rows_of_a(p), p.k};
                         }),
      constant_where([](const Problem& p) { return p.weights_are_constant != 0; },
                     bytes<&Problem::weights>(
                         "weights", TensorField::Flow::Read, "the weights", "the packed weights",
                         [](const Problem& p) {
                           const PackedWeights blocks = packed(p);
                           return TensorExtents{
                               1, saturated_product(p.batch, blocks.row_blocks(p.n)),
                               saturated_product(blocks.k_blocks(p.k), blocks.block_bytes())};
                         })),
      where([](const Problem& p) { return in_groups(p); },
            integers<&Problem::rows>("rows", "the groups' rows",
                                     [](const Problem& p) { return p.batch; })),
      where([](const Problem& p) { return is_gathered(p); },
            integers<&Problem::row_index>("row_index", "the row index",
                                          [](const Problem& p) { return p.m; })),
      scales_of_a,
      writes<&Problem::d>("d", {.title = "D", .types = types}, [](const Problem& p) {
        return TensorExtents{matrices(p), p.m, p.epilogue.gated != 0 ? p.n / 2 : p.n};
      })};
  static constexpr ProductField product = product_with<&Problem::epilogue>(
      a, weights, d,
      [](const Problem& p) {
        return TensorExtents{in_groups(p) ? 1 : p.batch, p.m, p.n};
      },
      [](const Problem& p) { return p.k; });

  // A host does not know how large groups are, which only the device reads.
  enum ListIndex : unsigned { sizes };
  static constexpr ListField lists[] = {list("sizes", "A size", "groups",
                                             "rows of each group, for kernels that take groups", "",
                                             [](const Problem&) {
                                               return ListField::Guess{{}, 0};
                                             })};

  static constexpr Description description = {"four_bit",
                                              "activations by weights of four bits",
                                              "multiplies by these weights of four bits",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              rules,
                                              tensors,
                                              &product,
                                              lists};
};

}  // namespace tw
