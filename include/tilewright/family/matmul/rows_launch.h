// The launch of a product that streams rows of B; family/matmul/launch.h includes it.
#pragma once

#include "tilewright/family/matmul/launch.h"

namespace tw {

namespace detail {

// Tiles along m, n and the batch.
template <RowKernel Kernel>
struct RowTiles {
  std::int64_t m, n, all;
  explicit RowTiles(const MatmulProblem& problem) {
    const Tiling& tiling = Kernel::config.tiling;
    m = (problem.m + tiling.n - 1) / tiling.n;
    n = (problem.n + tiling.m - 1) / tiling.m;
    all = saturated_product(saturated_product(m, n), problem.batch);
  }
};

// Elements of two bytes, of lines that are rows.
template <class Matrix>
Matrix rows_of(const MatmulOperand& operand, const TensorLines& lines, std::int64_t rows) {
  const auto* const first = static_cast<const std::uint16_t*>(operand.data);
  return {first, first + lines.bytes() / 2, operand.pitch, operand.batch_pitch,
          static_cast<int>(rows)};
}

}  // namespace detail

template <RowKernel Kernel>
Status MatmulLaunch::supports(const Checked& checked) {
  const MatmulProblem problem = product<Kernel>(checked);
  const Tiling& tiling = Kernel::config.tiling;
  const Status operands = check_operands(product_of(tiling, problem), Kernel::config, false, 1);
  if (!operands.is_good()) return operands;
  const std::int64_t tiles = detail::RowTiles<Kernel>(problem).all;
  if (tiles < std::int64_t{1} << 31) return Status::good();
  return Status::refused(
      sentence("The problem has {} tiles; at most 2^31 - 1 can be counted.", tiles));
}

template <RowKernel Kernel>
void MatmulLaunch::plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                        const Checked& checked, unsigned max_ctas) {
  constexpr unsigned rounds = 4;  // waves of CTAs at most: the last is then a small share of all
  const MatmulProblem problem = product<Kernel>(checked);
  const detail::RowTiles<Kernel> tiles(problem);
  const auto is_aligned = [&](const MatmulOperand& operand) {
    return alignment_of(operand.data, operand.pitch, problem.batch, operand.batch_pitch,
                        operand.type) == 16;
  };
  auto& stream = params.stream;
  stream.a =
      detail::rows_of<decltype(stream.a)>(problem.a, checked.tensor(MatmulFamily::a), problem.m);
  stream.b =
      detail::rows_of<decltype(stream.b)>(problem.b, checked.tensor(MatmulFamily::b), problem.n);
  stream.d = {problem.d.data, problem.d.pitch, problem.d.batch_pitch};
  stream.m_tiles = Divisor(static_cast<unsigned>(tiles.m));
  stream.n_tiles = Divisor(static_cast<unsigned>(tiles.n));
  stream.m = static_cast<int>(problem.m);
  stream.n = static_cast<int>(problem.n);
  stream.k = problem.epilogue.alpha == 0.0f ? 0 : static_cast<int>(problem.k);
  stream.aligned = is_aligned(problem.a) && is_aligned(problem.b);
  stream.epilogue = problem.epilogue;
  if (problem.epilogue.beta == 0.0f) stream.epilogue.source = nullptr;
  params.tiles = static_cast<unsigned>(tiles.all);
  // All CTAs that run at once ask for about as much as memory brings while a grid ends and the next
  // begins. To ask for more would delay the lines that are needed first.
  constexpr unsigned early_bytes = 9 << 20;
  constexpr unsigned step_bytes =
      Kernel::Stream::threads / 32 * 128 * Kernel::config.tiling.spans * Kernel::config.tiling.m;
  const unsigned at_once = std::min(params.tiles, std::max(1u, max_ctas));
  stream.early_steps = std::max(1u, early_bytes / (at_once * step_bytes));
  stream.early_tiles = problem.b_is_constant ? at_once : 0;
  ctas = std::min(params.tiles, rounds * std::max(1u, max_ctas));
}

}  // namespace tw
