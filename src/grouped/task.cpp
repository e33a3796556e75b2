#include "src/grouped/task.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "src/matmul/names.h"

namespace tw {

int GroupedShape::group_of(std::int64_t row) const {
  std::int64_t begin = 0;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    if (row >= begin && row < begin + sizes[group]) return static_cast<int>(group);
    begin += capacity > 0 ? capacity : sizes[group];
  }
  return -1;
}

GroupedShape shape_for(const GroupedInstance& instance, const std::vector<std::int32_t>& sizes,
                       std::int64_t spare, std::int64_t capacity) {
  GroupedShape shape;
  shape.sizes = sizes;
  shape.capacity = capacity;
  shape.matmul.batch = static_cast<std::int64_t>(sizes.size());
  shape.matmul.m = capacity > 0 ? capacity * shape.matmul.batch
                                : std::accumulate(sizes.begin(), sizes.end(), spare);
  shape.matmul.a_type = instance.config.a_type;
  shape.matmul.b_type = instance.config.b_type;
  shape.matmul.d_type = instance.config.d_type;
  return shape;
}

GroupedData make_grouped_data(const GroupedShape& shape, Fill fill, std::uint64_t seed) {
  GroupedData data;
  MatmulShape all_rows = shape.matmul, all_groups = shape.matmul;
  all_rows.batch = 1;
  all_groups.m = 1;
  data.matmul = make_matmul_data(all_rows, fill, seed);
  data.matmul.b = make_matmul_data(all_groups, fill, seed).b;
  for (std::int64_t row = 0; row < shape.matmul.m; ++row) {
    if (shape.group_of(row) >= 0) continue;
    for (std::int64_t k = 0; k < shape.matmul.k; ++k) {
      data.matmul.a.set(0, row, k, std::numeric_limits<double>::infinity());
    }
  }
  data.rows = shape.sizes;
  if (shape.capacity == 0) {
    std::partial_sum(shape.sizes.begin(), shape.sizes.end(), data.rows.begin());
  }
  return data;
}

MatmulReference direct_product(const GroupedData& data, const GroupedShape& shape) {
  MatmulShape matmul = shape.matmul;
  matmul.batch = 1;
  MatmulSums sums;
  for (std::int64_t row = 0; row < matmul.m; ++row) {
    const int group = shape.group_of(row);
    for (std::int64_t column = 0; column < matmul.n; ++column) {
      double value = 0.0, magnitude = 0.0;
      for (std::int64_t k = 0; k < matmul.k && group >= 0; ++k) {
        const double product = data.matmul.a.at(0, row, k) * data.matmul.b.at(group, column, k);
        value += product;
        magnitude += std::abs(product);
      }
      sums.value.push_back(value);
      sums.magnitude.push_back(magnitude);
    }
  }
  MatmulReference reference = reference_of(sums, data.matmul, matmul);
  for (std::size_t i = 0; i < reference.d.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / matmul.output_columns();
    if (shape.group_of(row) < 0) reference.d[i] = {};
  }
  return reference;
}

void judge_other_rows(GroupedData& data, const GroupedShape& shape) {
  HostMatrix& d = data.matmul.d;
  for (std::int64_t row = 0; row < shape.matmul.m; ++row) {
    if (shape.group_of(row) >= 0) continue;
    for (std::int64_t column = 0; column < d.columns; ++column) {
      const std::size_t at = d.index(0, row, column);
      d.set(0, row, column,
            read_bits(d.type, d.element(at)) == poison_bits(d.type, at) ? 0.0 : 1.0);
    }
  }
}

GroupedProblem grouped_at(GroupedData& data, const GroupedShape& shape, const std::int32_t* rows,
                          const std::function<void*(HostMatrix&)>& address) {
  return {problem_at(data.matmul, shape.matmul, address), rows, shape.capacity};
}

GroupedProblem grouped_on_host(GroupedData& data, const GroupedShape& shape) {
  return grouped_at(data, shape, data.rows.data(),
                    [](HostMatrix& matrix) { return matrix.data(); });
}

VirtualRun run_virtually(const GroupedInstance& instance, const VerifiedGrouped& problem,
                         const vgpu::Options& options) {
  VirtualRun run;
  if (instance.simulate == nullptr) {
    run.status = no_virtual_gpu();
    return run;
  }
  GroupedData data = problem.data;
  run.status = instance.simulate(grouped_on_host(data, problem.shape), {}, options, run.report);
  judge_other_rows(data, problem.shape);
  run.data = std::move(data.matmul);
  if (run.status.is_good()) run.comparison = compare(run.data, problem.reference);
  return run;
}

std::string run_line(const GroupedInstance& instance, const GroupedShape& shape, Fill fill,
                     std::uint64_t seed) {
  const MatmulShape& matmul = shape.matmul;
  std::string line = std::string("./tw run grouped --instance ") + instance.name + " --sizes ";
  for (std::size_t i = 0; i < shape.sizes.size(); ++i) {
    if (i > 0) line += ',';
    line += std::to_string(shape.sizes[i]);
  }
  if (shape.capacity > 0) {
    line += " --capacity " + std::to_string(shape.capacity);
  } else {
    const auto spare = matmul.m - std::accumulate(shape.sizes.begin(), shape.sizes.end(), 0);
    line += " --spare " + std::to_string(spare);
  }
  line += " --n " + std::to_string(matmul.n) + " --k " + std::to_string(matmul.k);
  if (matmul.epilogue.beta != 0.0f) line += " --residual";
  return line + " --data " + name_of(fill) + " --seed " + std::to_string(seed);
}

}  // namespace tw
