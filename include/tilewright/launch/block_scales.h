// Block scales, from operands to a kernel: the product's plan with maps of packed operands and of
// scales, with blocks of scales that waves read, or with what converts elements.
#pragma once

#include <limits>

#include "tilewright/launch/block_scaled_operands.h"
#include "tilewright/launch/product.h"
#include "tilewright/number/code_format.h"

namespace tw {

// What is known of a compiled kernel.
struct BlockScaleFacts {
  bool present;
  bool converts;   // elements of any type, with any scales
  ScaleType type;  // that it multiplies with, where it does not convert
};
template <class Kernel>
constexpr bool converts_elements = Kernel::Recipe::block_scaling == BlockScaling::Converted;
template <class Kernel>
constexpr BlockScaleFacts block_scale_facts = {Kernel::Recipe::block_scaling != BlockScaling::None,
                                               converts_elements<Kernel>,
                                               Kernel::Recipe::block_scale_type};

namespace detail {

template <class Params>
void fill_conversion(Params& params, const BlockScaledOperands& given) {
  const MatmulProblem& matmul = given.matmul;
  params.a = view_of(matmul.a, matmul, matmul.m);
  params.b = view_of(matmul.b, matmul, matmul.n);
  params.a_scaled = {CodeFormat::of(matmul.a.type),
                     static_cast<const std::uint8_t*>(given.a_scales), given.a_extent};
  params.b_scaled = {CodeFormat::of(matmul.b.type),
                     static_cast<const std::uint8_t*>(given.b_scales), given.b_extent};
  params.scale_type = given.type;
}

inline MatrixBox scales_box(const void* scales, const ScaleExtent& extent, std::int64_t batch,
                            TmaBox box) {
  constexpr std::int64_t bytes = ScaleBlock::bytes;
  return {.base = scales,
          .type = ElementType::Bf16,  // pairs of scales: a box has at most 256 elements in a line
          .inner = bytes / 2,
          .outer = extent.k_blocks(),
          .batch = extent.row_blocks() * batch,
          .pitch_bytes = bytes,
          .batch_pitch_bytes = bytes * extent.k_blocks(),
          .box_inner = box.inner,
          .box_outer = box.outer,
          .swizzle = BoxSwizzle::None};
}

template <class Loader, class Encode>
Status fill_maps(typename Loader::Params& params, BlockScaledOperands given, const Encode& encode) {
  MatmulProblem& matmul = given.matmul;
  Status status = fill_loader<Loader>(params, given.in_bytes(), encode);
  if (!status.is_good()) return status;
  // Nothing is loaded where k is 0; the maps must still be valid, so they show D.
  if (matmul.k == 0) {
    const auto d = reinterpret_cast<std::uintptr_t>(matmul.d.data);
    given.a_scales = given.b_scales = reinterpret_cast<const void*>(d / 16 * 16);
    given.a_extent = given.b_extent = ScaleExtent::of(1, 128, given.type);
    matmul.batch = 1;
  }
  params.a_row_blocks = given.shares_a ? 0 : static_cast<int>(given.a_extent.row_blocks());
  params.b_row_blocks = static_cast<int>(given.b_extent.row_blocks());
  status =
      encode(params.a_scales, scales_box(given.a_scales, given.a_extent,
                                         given.shares_a ? 1 : matmul.batch, Loader::scale_box()));
  if (!status.is_good()) return status;
  return encode(params.b_scales,
                scales_box(given.b_scales, given.b_extent, matmul.batch, Loader::scale_box()));
}

}  // namespace detail

template <class Kernel, class Encode>
Status plan_block_scaled(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                         const BlockScaledOperands& given, const LaunchOrder& order,
                         unsigned max_clusters, const Workspace& workspace, const Encode& encode) {
  MatmulProblem converted = given.matmul;
  if (converts_elements<Kernel>) converted.a.type = converted.b.type = ElementType::Bf16;
  Status found = check_types(converted, Kernel::config);
  found.add(given.are_packed_along_k());
  if (!detail::reads_any_major<typename Kernel::Loader>) {
    found.add(check_majors(converted, Kernel::config));
  }
  if (!converts_elements<Kernel>) found.add(given.are_scaled_by(Kernel::Recipe::block_scale_type));
  if (!found.is_good()) return found;
  if constexpr (converts_elements<Kernel>) {
    return tw::plan<Kernel>(params, grid, converted, order, max_clusters, workspace, encode,
                            [&](typename Kernel::Loader::Params& loader) {
                              detail::fill_conversion(loader, given);
                              return Status::good();
                            });
  } else if constexpr (Kernel::Recipe::block_scaling == BlockScaling::InWaves) {
    if (Status status = given.suit_waves(); !status.is_good()) return status;
    const auto blocks = [](const void* scales, const ScaleExtent& extent) {
      return decltype(params.own.a){static_cast<const std::uint8_t*>(scales),
                                    static_cast<int>(extent.row_blocks()),
                                    static_cast<int>(extent.k_blocks())};
    };
    params.own = {blocks(given.a_scales, given.a_extent), blocks(given.b_scales, given.b_extent)};
    return tw::plan<Kernel>(params, grid, given.matmul, order, max_clusters, workspace, encode);
  } else {
    if (Status status = given.suit_tma(); !status.is_good()) return status;
    Status planned =
        tw::plan<Kernel>(params, grid, given.matmul, order, max_clusters, workspace, encode,
                         [&](typename Kernel::Loader::Params& loader) {
                           return detail::fill_maps<typename Kernel::Loader>(loader, given, encode);
                         });
    // Tiles begin where blocks of scales do: the last rows are not reached back for.
    detail::tile_map(params.schedule).last_row = std::numeric_limits<int>::max();
    return planned;
  }
}

}  // namespace tw
