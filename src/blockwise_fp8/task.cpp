#include "src/blockwise_fp8/task.h"

#include <cmath>
#include <random>

#include "src/matmul/block_scales.h"
#include "src/matmul/names.h"

namespace tw {

namespace {

constexpr std::int64_t block = 128;
std::int64_t blocks_of(std::int64_t extent, std::int64_t size) {
  return (extent + size - 1) / size;
}

}  // namespace

BlockwiseShape shape_for(const BlockwiseInstance& instance) {
  BlockwiseShape shape;
  shape.matmul.a_type = instance.config.tiling.a_type;
  shape.matmul.b_type = instance.config.tiling.b_type;
  shape.matmul.d_type = instance.config.d_type;
  shape.b_scale_rows = instance.b_scale_rows;
  return shape;
}

BlockwiseData make_blockwise_data(const BlockwiseShape& shape, Fill fill, std::uint64_t seed) {
  const MatmulShape& matmul = shape.matmul;
  BlockwiseData data;
  data.matmul = make_matmul_data(matmul, fill, seed);
  const auto scales = [&](Major major, std::int64_t rows, std::int64_t batch) {
    HostMatrix matrix(ElementType::Fp32, major, batch, rows, blocks_of(matmul.k, block),
                      shape.unaligned_scales);
    matrix.allocate();
    return matrix;
  };
  data.a_scales = scales(shape.a_scales, matmul.m, matmul.batch);
  data.b_scales = scales(shape.b_scales, blocks_of(matmul.n, shape.b_scale_rows),
                         matmul.shared_b ? 1 : matmul.batch);
  if (matmul.shared_b) data.b_scales.batch_pitch = 0;
  std::mt19937_64 random(seed + 1);
  fill_block_scales(data.a_scales, fill, 7, random);
  fill_block_scales(data.b_scales, fill, 5, random);
  return data;
}

MatmulReference direct_product(const BlockwiseData& data, const BlockwiseShape& shape) {
  const MatmulShape& matmul = shape.matmul;
  const auto numbers = [](const HostMatrix& matrix, std::int64_t batch, std::int64_t row) {
    std::vector<double> result(static_cast<std::size_t>(matrix.columns));
    for (std::int64_t i = 0; i < matrix.columns; ++i) result[i] = matrix.at(batch, row, i);
    return result;
  };
  MatmulSums sums;
  for (std::int64_t batch = 0; batch < matmul.batch; ++batch) {
    const std::int64_t b_batch = matmul.shared_b ? 0 : batch;
    std::vector<std::vector<double>> b, b_scales;
    for (std::int64_t column = 0; column < matmul.n; ++column) {
      b.push_back(numbers(data.matmul.b, b_batch, column));
      b_scales.push_back(numbers(data.b_scales, b_batch, column / shape.b_scale_rows));
    }
    for (std::int64_t row = 0; row < matmul.m; ++row) {
      const std::vector<double> a = numbers(data.matmul.a, batch, row);
      const std::vector<double> a_scales = numbers(data.a_scales, batch, row);
      for (std::int64_t column = 0; column < matmul.n; ++column) {
        double value = 0.0, magnitude = 0.0;
        for (std::int64_t i = 0; i < matmul.k; ++i) {
          const double product =
              a[i] * a_scales[i / block] * b[column][i] * b_scales[column][i / block];
          value += product;
          magnitude += std::abs(product);
        }
        sums.value.push_back(value);
        sums.magnitude.push_back(magnitude);
      }
    }
  }
  // The tensor core's short sums are of 128 of k. Of integers they are exact; what follows is
  // float32, as are the sums of longer types.
  MatmulShape summed = matmul;
  summed.k = std::min(matmul.k, block);
  if (data.matmul.fill != Fill::Normal) summed.a_type = ElementType::Bf16;
  return reference_of(sums, data.matmul, summed);
}

BlockwiseProblem blockwise_at(BlockwiseData& data, const BlockwiseShape& shape,
                              const std::function<void*(HostMatrix&)>& address) {
  const auto scales = [&](HostMatrix& matrix) {
    return ScaleTensor{
        {address(matrix), matrix.pitch, matrix.batch_pitch, matrix.type, matrix.major},
        matrix.rows,
        matrix.columns};
  };
  return {problem_at(data.matmul, shape.matmul, address), scales(data.a_scales),
          scales(data.b_scales)};
}

BlockwiseProblem blockwise_on_host(BlockwiseData& data, const BlockwiseShape& shape) {
  return blockwise_at(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

VirtualRun run_virtually(const BlockwiseInstance& instance, const MatmulOrder& order,
                         const VerifiedBlockwise& problem, const vgpu::Options& options) {
  VirtualRun run;
  if (instance.simulate == nullptr) {
    run.status = no_virtual_gpu();
    return run;
  }
  BlockwiseData data = problem.data;
  run.status =
      instance.simulate(blockwise_on_host(data, problem.shape), order, options, run.report);
  run.data = std::move(data.matmul);
  if (run.status.is_good()) run.comparison = compare(run.data, problem.reference);
  return run;
}

std::string run_line(const BlockwiseInstance& instance, const MatmulOrder& order,
                     const BlockwiseShape& shape, Fill fill, std::uint64_t seed) {
  std::string line =
      std::string("./tw run blockwise --instance ") + instance.name + shape_words(shape.matmul);
  if (order.split_k != 1) line += " --split-k " + std::to_string(order.split_k);
  const auto word = [](Major major) { return major == Major::K ? " row" : " column"; };
  line += std::string(" --a-scales") + word(shape.a_scales) + " --b-scales" + word(shape.b_scales);
  if (shape.unaligned_scales) line += " --unaligned-scales";
  return line + " --data " + name_of(fill) + " --seed " + std::to_string(seed);
}

}  // namespace tw
