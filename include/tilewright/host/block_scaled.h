// How a block-scaled product is launched: the matmul's plan with maps of packed operands and of
// scales.
#pragma once

#include <limits>
#include <utility>

#include "tilewright/family/block_scaled.h"
#include "tilewright/host/block_scaled_problem.h"
#include "tilewright/host/matmul.h"

namespace tw {

namespace detail {

// Two e2m1 of a line are a byte of it where both operands are e2m1; else TMA unpacks what has fewer
// than 8 bits.
inline MatrixBox operand_box(const MatmulProblem& problem, const MatmulOperand& operand,
                             std::int64_t rows, TmaBox box) {
  const std::int64_t bits = bits_in(operand.type);
  const bool unpacks = is_unpacked(problem, operand);
  const bool by_k = operand.major == Major::K;
  const std::int64_t k = unpacks ? problem.k : problem.k * bits / 8;
  return {.base = operand.data,
          .type = unpacks ? operand.type : ElementType::E4m3,
          .inner = by_k ? k : rows,
          .outer = by_k ? rows : k,
          .batch = problem.batch,
          .pitch_bytes = std::max<std::int64_t>(operand.pitch * bits / 8, 16),
          .batch_pitch_bytes = operand.batch_pitch * bits / 8,
          .box_inner = box.inner,
          .box_outer = box.outer};
}

inline MatrixBox scale_box(const void* scales, const ScaleExtent& extent, std::int64_t batch,
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

// Nothing is loaded where k is 0; the maps must still be valid, so they show D.
inline BlockScaledProblem readable(BlockScaledProblem problem) {
  if (problem.matmul.k > 0) return problem;
  const auto d = reinterpret_cast<std::uintptr_t>(problem.matmul.d.data);
  const void* const line = reinterpret_cast<const void*>(d / 32 * 32);
  problem.matmul.m = problem.matmul.n = problem.matmul.batch = 1;
  problem.matmul.k = 128;
  problem.matmul.a.data = problem.matmul.b.data = problem.a_scales = problem.b_scales = line;
  problem.matmul.a.pitch = problem.matmul.b.pitch = 128;
  return problem;
}

template <class Loader, class Encode>
Status fill_scaled_loader(typename Loader::Params& params, const BlockScaledProblem& given,
                          const Encode& encode) {
  const BlockScaledProblem problem = readable(given);
  const MatmulProblem& matmul = problem.matmul;
  const auto a = ScaleExtent::of(matmul.m, matmul.k, problem.scale_type);
  const auto b = ScaleExtent::of(matmul.n, matmul.k, problem.scale_type);
  params.a_row_blocks = static_cast<int>(a.row_blocks());
  params.b_row_blocks = static_cast<int>(b.row_blocks());
  const std::pair<TensorMap*, MatrixBox> maps[] = {
      {&params.a, operand_box(matmul, matmul.a, matmul.m, Loader::box_a())},
      {&params.b, operand_box(matmul, matmul.b, matmul.n, Loader::box_b())},
      {&params.a_scales, scale_box(problem.a_scales, a, matmul.batch, Loader::scale_box())},
      {&params.b_scales, scale_box(problem.b_scales, b, matmul.batch, Loader::scale_box())}};
  for (const auto& [map, box] : maps) {
    if (Status status = encode(*map, box); !status.is_good()) return status;
  }
  return Status::good();
}

}  // namespace detail

// Tiles begin where blocks of scales do: the last rows are not reached back for.
template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const BlockScaledProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  if (Parts::Scales::type != problem.scale_type) {
    return Status::refused(std::string("The scales are ") + name_of(problem.scale_type) +
                           "; this kernel multiplies with " + name_of(Parts::Scales::type) + ".");
  }
  if (Status status = check(problem); !status.is_good()) return status;
  Status planned = plan<Parts>(params, grid, problem.matmul, order, max_clusters, workspace, encode,
                               [&](typename Parts::Loader::Params& loader) {
                                 return detail::fill_scaled_loader<typename Parts::Loader>(
                                     loader, problem, encode);
                               });
  detail::tile_map(params.schedule).last_row = std::numeric_limits<int>::max();
  return planned;
}

}  // namespace tw
