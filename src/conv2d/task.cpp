#include "src/conv2d/task.h"

#include <cmath>
#include <random>

#include "src/matmul/names.h"
#include "tilewright/host/conv2d_check.h"

namespace tw {

MatmulShape Conv2dShape::as_matmul() const {
  MatmulShape shape;
  shape.m = n * depth.outputs() * h.outputs() * w.outputs();
  shape.n = k;
  shape.k = depth.filter * h.filter * w.filter * group_channels();
  shape.a_type = shape.b_type = type;
  shape.d_type = d_type;
  shape.epilogue = epilogue;
  return shape;
}

namespace {

// Every output channel selects one element of what the filter covers; every element of the image
// tells its own place. Each result is then one element, and a wrong place shows.
void fill_positions(MatmulData& data, const Conv2dShape& shape, std::mt19937_64& random) {
  data.a.fill([&](std::int64_t, std::int64_t, std::int64_t) {
    return static_cast<int>(random() % 201) - 100;
  });
  const std::int64_t positions = shape.depth.filter * shape.h.filter * shape.w.filter;
  const std::int64_t covered = positions * shape.group_channels();
  const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(covered));
  data.b.fill([&](std::int64_t, std::int64_t row, std::int64_t channel) {
    const std::int64_t k = row / positions, position = row % positions;
    return position * shape.group_channels() + channel == (first + k * 61) % covered ? 1.0 : 0.0;
  });
}

void fill_operands(MatmulData& data, Fill fill, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  for (HostMatrix* matrix : {&data.a, &data.b}) {
    matrix->fill([&](std::int64_t, std::int64_t, std::int64_t) {
      return fill == Fill::Normal ? normal(random) : static_cast<int>(random() % 7) - 3.0;
    });
  }
}

// (row,column), without gaps.
std::vector<double> numbers(const HostMatrix& matrix) {
  std::vector<double> result;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      result.push_back(matrix.at(0, row, column));
    }
  }
  return result;
}

// One element of D: the sum of products, and of their magnitudes.
struct Sum {
  double value = 0.0;
  double magnitude = 0.0;
};
// Output `i` of an axis at one of the filter's positions; -1: outside of the image.
std::int64_t met(const Conv2dAxis& axis, std::int64_t i, std::int64_t position) {
  const std::int64_t at = i * axis.stride + position * axis.dilation - axis.pad_low;
  return at < 0 || at >= axis.extent ? -1 : at;
}
struct OutputPixel {
  std::int64_t image, o, p, q;
};
Sum sum_at(const std::vector<double>& images, const std::vector<double>& filters,
           const Conv2dShape& shape, const OutputPixel& at, std::int64_t k) {
  Sum sum;
  const std::int64_t channels = shape.group_channels();
  const std::int64_t group = k / (shape.k / shape.groups);
  for (std::int64_t t = 0; t < shape.depth.filter; ++t) {
    for (std::int64_t r = 0; r < shape.h.filter; ++r) {
      for (std::int64_t s = 0; s < shape.w.filter; ++s) {
        const std::int64_t z = met(shape.depth, at.o, t);
        const std::int64_t y = met(shape.h, at.p, r);
        const std::int64_t x = met(shape.w, at.q, s);
        if (z < 0 || y < 0 || x < 0) continue;
        const std::int64_t pixel =
            ((at.image * shape.depth.extent + z) * shape.h.extent + y) * shape.w.extent + x;
        const std::int64_t filter =
            ((k * shape.depth.filter + t) * shape.h.filter + r) * shape.w.filter + s;
        for (std::int64_t c = 0; c < channels; ++c) {
          const double product =
              images[pixel * shape.c + group * channels + c] * filters[filter * channels + c];
          sum.value += product;
          sum.magnitude += std::abs(product);
        }
      }
    }
  }
  return sum;
}

}  // namespace

MatmulData make_conv2d_data(const Conv2dShape& shape, Fill fill, std::uint64_t seed) {
  MatmulShape outputs = shape.as_matmul();
  outputs.k = 0;
  MatmulData data = make_matmul_data(outputs, fill, seed);
  const std::int64_t pixels = shape.n * shape.depth.extent * shape.h.extent * shape.w.extent;
  const std::int64_t filters = shape.k * shape.depth.filter * shape.h.filter * shape.w.filter;
  data.a = HostMatrix(shape.type, Major::K, 1, pixels, shape.c, false);
  data.b = HostMatrix(shape.type, Major::K, 1, filters, shape.group_channels(), false);
  // Without gaps, even where lines are then not aligned.
  for (HostMatrix* matrix : {&data.a, &data.b, &data.d}) {
    matrix->pitch = matrix->columns;
    matrix->batch_pitch = matrix->rows * matrix->columns;
    matrix->allocate();
  }
  poison_outputs(data);
  std::mt19937_64 random(seed);
  if (fill == Fill::Position) {
    fill_positions(data, shape, random);
  } else {
    fill_operands(data, fill, random);
  }
  return data;
}

MatmulReference direct_convolution(const MatmulData& data, const Conv2dShape& shape) {
  const std::vector<double> images = numbers(data.a), filters = numbers(data.b);
  MatmulSums sums;
  for (std::int64_t image = 0; image < shape.n; ++image) {
    for (std::int64_t o = 0; o < shape.depth.outputs(); ++o) {
      for (std::int64_t p = 0; p < shape.h.outputs(); ++p) {
        for (std::int64_t q = 0; q < shape.w.outputs(); ++q) {
          for (std::int64_t k = 0; k < shape.k; ++k) {
            const Sum sum = sum_at(images, filters, shape, {image, o, p, q}, k);
            sums.value.push_back(sum.value);
            sums.magnitude.push_back(sum.magnitude);
          }
        }
      }
    }
  }
  return reference_of(sums, data, shape.as_matmul());
}

Conv2dProblem conv2d_at(MatmulData& data, const Conv2dShape& shape,
                        const std::function<void*(HostMatrix&)>& address) {
  const MatmulProblem outputs = problem_at(data, shape.as_matmul(), address);
  return {.n = shape.n,
          .c = shape.c,
          .k = shape.k,
          .groups = shape.groups,
          .h = shape.h,
          .w = shape.w,
          .image = outputs.a.data,
          .filter = outputs.b.data,
          .d = outputs.d.data,
          .type = shape.type,
          .d_type = shape.d_type,
          .epilogue = outputs.epilogue,
          .depth = shape.depth};
}

Conv2dProblem conv2d_on_host(MatmulData& data, const Conv2dShape& shape) {
  return conv2d_at(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

Status supports(const Conv2dInstance& instance, const Conv2dShape& shape) {
  alignas(16) static int somewhere[4];
  Conv2dProblem problem;
  problem.n = shape.n;
  problem.c = shape.c;
  problem.k = shape.k;
  problem.groups = shape.groups;
  problem.h = shape.h;
  problem.w = shape.w;
  problem.depth = shape.depth;
  problem.image = problem.filter = problem.d = somewhere;
  problem.type = shape.type;
  problem.d_type = shape.d_type;
  return instance.supports(problem, {});
}

VirtualRun run_virtually(const Conv2dInstance& instance, const MatmulOrder& order,
                         const VerifiedConv2d& problem, const vgpu::Options& options) {
  VirtualRun run;
  if (instance.simulate == nullptr) {
    run.status = no_virtual_gpu();
    return run;
  }
  run.data = problem.data;
  run.status =
      instance.simulate(conv2d_on_host(run.data, problem.shape), order, options, run.report);
  if (run.status.is_good()) run.comparison = compare(run.data, problem.reference);
  return run;
}

std::string run_line(const Conv2dInstance& instance, const Conv2dShape& shape, Fill fill,
                     std::uint64_t seed) {
  const Conv2dAxis &h = shape.h, &w = shape.w, &depth = shape.depth;
  const std::pair<const char*, std::vector<std::int64_t>> options[] = {
      {"n", {shape.n}},
      {"c", {shape.c}},
      {"k", {shape.k}},
      {"groups", {shape.groups}},
      {"h", {h.extent}},
      {"w", {w.extent}},
      {"r", {h.filter}},
      {"s", {w.filter}},
      {"depth", {depth.extent}},
      {"t", {depth.filter}},
      {"stride", {depth.stride, h.stride, w.stride}},
      {"dilation", {depth.dilation, h.dilation, w.dilation}},
      {"pad", {depth.pad_low, depth.pad_high, h.pad_low, h.pad_high, w.pad_low, w.pad_high}},
      {"seed", {static_cast<std::int64_t>(seed)}}};
  std::string line = std::string("./tw run conv2d --instance ") + instance.name;
  for (const auto& [name, numbers] : options) {
    line += std::string(" --") + name;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      line += i == 0 ? ' ' : ',';
      line += std::to_string(numbers[i]);
    }
  }
  std::string words;
  if (shape.epilogue.column_bias) words += ",bias";
  if (shape.epilogue.activation == Activation::Relu) words += ",relu";
  if (shape.epilogue.beta != 0.0f) words += ",residual";
  if (!words.empty()) line += " --epilogue " + words.substr(1);
  return line + " --data " + name_of(fill);
}

}  // namespace tw
