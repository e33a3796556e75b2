// Block scales of a product in descriptions: fields, rules and tensors of any problem that has a
// tw_matmul_problem `matmul` and a tw_scale_type `scale`.
#pragma once

#include <algorithm>

#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/scale_bytes.h"

namespace tw {

// What a problem calls them.
struct BlockScaleWords {
  struct Tensor {
    const char *name, *title, *one;
  };
  const char* meaning;  // what the option of their type says
  Tensor a, b;
};

// `Operands` have
//   Problem, block_scale_words
//   has_block_scales(problem)
//   rows_of_a(problem), matrices_of_a(problem)
// and the addresses of scales stand at `a_path` and `b_path`.
template <class Operands, auto a_path, auto b_path>
struct BlockScaleFields {
  using Problem = typename Operands::Problem;

  static constexpr ScaleType type(const Problem& p) { return static_cast<ScaleType>(p.scale); }
  static constexpr bool is_whole(tw_type type) {
    return bits_in(static_cast<ElementType>(type)) >= 8;
  }
  // Blocks of one matrix of so many rows, of `batch` such matrices one behind the other.
  static constexpr TensorExtents extents(const Problem& p, std::int64_t batch, std::int64_t rows) {
    return scale_bytes(ScaleExtent::of(rows, p.matmul.k, type(p)), batch);
  }
  template <auto path, class ExtentsOf>
  static constexpr TensorField tensor(const BlockScaleWords::Tensor& words, ExtentsOf extents_of) {
    return bytes<path>(words.name, TensorField::Flow::Read, words.title, words.one, extents_of);
  }

  static constexpr IntegerField type_choice = choice<&Problem::scale>(
      "scale", Operands::block_scale_words.meaning, scale_words, "scale_type");

  static constexpr Rule are_there_where_needed = rule(
      [](const Problem& p) {
        return (is_whole(p.matmul.a.type) && is_whole(p.matmul.b.type)) ||
               std::min({p.matmul.m, p.matmul.n, p.matmul.k, p.matmul.batch}) == 0 ||
               Operands::has_block_scales(p);
      },
      [](const Problem& p) {
        return sentence(
            "The types are {} and {}, but elements of less than a byte need block "
            "scales.",
            name_of(static_cast<ElementType>(p.matmul.a.type)),
            name_of(static_cast<ElementType>(p.matmul.b.type)));
      });
  static constexpr Rule suit_elements = rule(
      [](const Problem& p) {
        return !Operands::has_block_scales(p) || type(p) == ScaleType::Ue8m0 ||
               (p.matmul.a.type == TW_E2M1 && p.matmul.b.type == TW_E2M1);
      },
      [](const Problem& p) {
        return sentence("The scales are ue4m3, which are for e2m1 times e2m1, not {} times {}.",
                        name_of(static_cast<ElementType>(p.matmul.a.type)),
                        name_of(static_cast<ElementType>(p.matmul.b.type)));
      });

  static constexpr TensorField a =
      tensor<a_path>(Operands::block_scale_words.a, [](const Problem& p) {
        return extents(p, Operands::matrices_of_a(p), Operands::rows_of_a(p));
      });
  static constexpr TensorField b =
      tensor<b_path>(Operands::block_scale_words.b,
                     [](const Problem& p) { return extents(p, p.matmul.batch, p.matmul.n); });

  // A problem that may have none joins these.
  static constexpr IntegerField numbers[] = {type_choice};
  static constexpr Rule rules[] = {are_there_where_needed, suit_elements};
  static constexpr TensorField tensors[] = {
      where([](const Problem& p) { return Operands::has_block_scales(p); }, a),
      where([](const Problem& p) { return Operands::has_block_scales(p); }, b)};
};

}  // namespace tw
