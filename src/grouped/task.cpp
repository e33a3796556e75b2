#include "src/grouped/task.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "src/matmul/block_scales.h"
#include "src/matmul/names.h"
#include "src/matmul/parallel.h"

namespace tw {

int GroupedShape::group_of(std::int64_t row) const {
  std::int64_t begin = 0;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    if (row >= begin && row < begin + sizes[group]) return static_cast<int>(group);
    begin += capacity > 0 ? capacity : sizes[group];
  }
  return -1;
}

std::int64_t GroupedShape::spare() const {
  return capacity > 0 ? 0 : matmul.m - std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

void GroupedShape::resize(const std::vector<std::int32_t>& new_sizes, std::int64_t spare) {
  sizes = new_sizes;
  matmul.batch = static_cast<std::int64_t>(sizes.size());
  matmul.m =
      capacity > 0 ? capacity * matmul.batch : std::accumulate(sizes.begin(), sizes.end(), spare);
}

GroupedShape shape_for(const GroupedInstance& instance, const std::vector<std::int32_t>& sizes,
                       std::int64_t spare, std::int64_t capacity) {
  GroupedShape shape;
  shape.capacity = capacity;
  shape.resize(sizes, spare);
  shape.a_rows = instance.gathers ? 100 : 0;
  shape.b_scale_rows = instance.b_scale_rows;
  shape.matmul.a_type = instance.config.tiling.a_type;
  shape.matmul.b_type = instance.config.tiling.b_type;
  shape.matmul.d_type = instance.config.d_type;
  return shape;
}

std::int64_t GroupedData::source_of(std::int64_t row) const {
  if (!index.exists()) return row;
  const auto source = static_cast<std::int64_t>(index.at(0, 0, row));
  return source >= 0 && source < matmul.a.rows ? source : -1;
}

namespace {

constexpr std::int64_t block = 128;
std::int64_t blocks_of(std::int64_t extent, std::int64_t size) {
  return (extent + size - 1) / size;
}

template <class Number>
HostMatrix integers(std::int64_t count, const Number& number) {
  HostMatrix matrix(ElementType::S32, Major::K, 1, 1, count, false);
  matrix.allocate();
  matrix.fill([&](std::int64_t, std::int64_t, std::int64_t i) { return number(i); });
  return matrix;
}

void make_others_infinite(HostMatrix& matrix, const std::vector<bool>& used) {
  matrix.fill([&, given = matrix](std::int64_t, std::int64_t row, std::int64_t column) {
    return used[row] ? given.at(0, row, column) : std::numeric_limits<double>::infinity();
  });
}

void add_scales(GroupedData& data, const GroupedShape& shape, const std::vector<bool>& used,
                std::uint64_t seed) {
  const MatmulShape& matmul = shape.matmul;
  const auto scales = [&](std::int64_t batch, std::int64_t rows) {
    HostMatrix matrix(ElementType::Fp32, shape.column_scales ? Major::MN : Major::K, batch, rows,
                      blocks_of(matmul.k, block), false);
    matrix.allocate();
    return matrix;
  };
  data.a_scales = scales(1, data.matmul.a.rows);
  data.b_scales = scales(matmul.batch, blocks_of(matmul.n, shape.b_scale_rows));
  std::mt19937_64 random(seed + 2);
  fill_block_scales(data.a_scales, data.matmul.fill, 7, random);
  fill_block_scales(data.b_scales, data.matmul.fill, 5, random);
  make_others_infinite(data.a_scales, used);
}

}  // namespace

GroupedData make_grouped_data(const GroupedShape& shape, Fill fill, std::uint64_t seed) {
  GroupedData data;
  MatmulShape all_rows = shape.matmul, all_groups = shape.matmul, given_rows = shape.matmul;
  all_rows.batch = given_rows.batch = 1;
  all_groups.m = 1;
  data.matmul = make_matmul_data(all_rows, fill, seed);
  data.matmul.b = make_matmul_data(all_groups, fill, seed).b;
  if (shape.a_rows > 0) {
    given_rows.m = shape.a_rows;
    data.matmul.a = make_matmul_data(given_rows, fill, seed).a;
    std::mt19937_64 random(seed + 1);
    data.index = integers(shape.matmul.m, [&](std::int64_t) -> double {
      const double outside[] = {-1.0, static_cast<double>(shape.a_rows),
                                std::numeric_limits<std::int32_t>::min(),
                                std::numeric_limits<std::int32_t>::max()};
      if (random() % 8 == 0) return outside[random() % 4];
      return static_cast<double>(random() % static_cast<std::uint64_t>(shape.a_rows));
    });
  }
  std::vector<bool> used(static_cast<std::size_t>(data.matmul.a.rows));
  for (std::int64_t row = 0; row < shape.matmul.m; ++row) {
    const std::int64_t source = data.source_of(row);
    if (source >= 0 && shape.group_of(row) >= 0) used[source] = true;
  }
  make_others_infinite(data.matmul.a, used);
  if (shape.b_scale_rows > 0) add_scales(data, shape, used, seed);
  std::int64_t end = 0;
  data.rows = integers(shape.matmul.batch, [&](std::int64_t group) {
    const std::int32_t size = shape.sizes[static_cast<std::size_t>(group)];
    return static_cast<double>(shape.capacity > 0 ? size : end += size);
  });
  return data;
}

namespace {

// With its scale, where there is one.
double a_at(const GroupedData& data, std::int64_t row, std::int64_t k) {
  const double value = data.matmul.a.at(0, row, k);
  return data.a_scales.exists() ? value * data.a_scales.at(0, row, k / block) : value;
}
double b_at(const GroupedData& data, const GroupedShape& shape, int group, std::int64_t row,
            std::int64_t k) {
  const double value = data.matmul.b.at(group, row, k);
  if (!data.b_scales.exists()) return value;
  return value * data.b_scales.at(group, row / shape.b_scale_rows, k / block);
}

}  // namespace

MatmulReference direct_product(const GroupedData& data, const GroupedShape& shape) {
  MatmulShape matmul = shape.matmul;
  matmul.batch = 1;
  const std::int64_t n = matmul.n, k = matmul.k;
  MatmulSums sums;
  sums.value.resize(static_cast<std::size_t>(matmul.m * n));
  sums.magnitude.resize(sums.value.size());
  const auto work = static_cast<double>(matmul.m * n * k);
  in_parallel(matmul.m, work, [&](std::int64_t begin, std::int64_t end) {
    int known = -1;
    std::vector<double> b(static_cast<std::size_t>(k * n));  // (k,n) of the group that is known
    for (std::int64_t row = begin; row < end; ++row) {
      const int group = shape.group_of(row);
      const std::int64_t source = data.source_of(row);
      if (group < 0 || source < 0) continue;
      for (std::int64_t i = 0; i < k * n && group != known; ++i) {
        b[i] = b_at(data, shape, group, i % n, i / n);
      }
      known = group;
      for (std::int64_t i = 0; i < k; ++i) {
        const double a = a_at(data, source, i);
        for (std::int64_t column = 0; column < n; ++column) {
          const double product = a * b[i * n + column];
          sums.value[row * n + column] += product;
          sums.magnitude[row * n + column] += std::abs(product);
        }
      }
    }
  });
  if (shape.b_scale_rows > 0) {
    // The tensor core's short sums are of a block. Of integers they are exact; what follows is
    // float32, as are the sums of longer types.
    matmul.k = std::min(k, block);
    if (data.matmul.fill != Fill::Normal) matmul.a_type = ElementType::Bf16;
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

GroupedProblem grouped_at(GroupedData& data, const GroupedShape& shape,
                          const std::function<void*(HostMatrix&)>& address) {
  const auto integers = [&](HostMatrix& matrix) {
    return static_cast<const std::int32_t*>(address(matrix));
  };
  const auto scales = [&](HostMatrix& matrix) {
    return ScaleTensor{
        {address(matrix), matrix.pitch, matrix.batch_pitch, matrix.type, matrix.major},
        matrix.rows,
        matrix.columns};
  };
  return {problem_at(data.matmul, shape.matmul, address),
          integers(data.rows),
          shape.capacity,
          integers(data.index),
          shape.a_rows,
          scales(data.a_scales),
          scales(data.b_scales)};
}

GroupedProblem grouped_on_host(GroupedData& data, const GroupedShape& shape) {
  return grouped_at(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
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
    line += " --spare " + std::to_string(shape.spare());
  }
  if (shape.a_rows > 0) line += " --a-rows " + std::to_string(shape.a_rows);
  line += " --n " + std::to_string(matmul.n) + " --k " + std::to_string(matmul.k);
  if (shape.column_scales) line += " --column-scales";
  line += epilogue_options(matmul.epilogue);
  return line + " --data " + name_of(fill) + " --seed " + std::to_string(seed);
}

}  // namespace tw
