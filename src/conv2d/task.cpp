#include "src/conv2d/task.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "src/matmul/names.h"
#include "tilewright/host/conv2d_check.h"

namespace tw {

MatmulShape Conv2dShape::as_matmul() const {
  MatmulShape shape;
  shape.m = output_pixels();
  shape.n = k;
  shape.k = positions() * group_channels();
  if (direction == Conv2dDirection::BackwardData) {
    shape.m = image_pixels();
    shape.n = c;
    shape.k = positions() * k;
  } else if (direction == Conv2dDirection::BackwardFilter) {
    shape.m = k;
    shape.n = positions() * group_channels();
    shape.k = output_pixels();
  }
  shape.a_type = shape.b_type = type;
  shape.d_type = d_type;
  shape.epilogue = epilogue;
  return shape;
}

const char* name_of(Conv2dDirection direction) {
  if (direction == Conv2dDirection::Forward) return "forward";
  return direction == Conv2dDirection::BackwardData ? "dgrad" : "wgrad";
}

namespace {

// Each column of the output selects one of the elements that it sums up; every element of the image
// (or of D's gradient in its place) tells its own place. Each result is then one element, and a
// wrong place shows.
void fill_positions(MatmulData& data, const Conv2dShape& shape, std::mt19937_64& random) {
  data.a.fill([&](std::int64_t, std::int64_t, std::int64_t) {
    return static_cast<int>(random() % 201) - 100;
  });
  const std::int64_t positions = shape.positions();
  const std::int64_t summed = std::max<std::int64_t>(1, shape.as_matmul().k);
  const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(summed));
  data.b.fill([&](std::int64_t, std::int64_t row, std::int64_t column) {
    std::int64_t selects = row / positions;  // of k
    std::int64_t element = row % positions * shape.group_channels() + column;
    if (shape.direction == Conv2dDirection::BackwardData) {
      selects = column;
      element = row % positions * shape.k + row / positions;
    } else if (shape.direction == Conv2dDirection::BackwardFilter) {
      selects = column;
      element = row;
    }
    return element == (first + selects * 61) % summed ? 1.0 : 0.0;
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

// Output `i` of an axis at one of the filter's positions; -1: outside of the image.
std::int64_t met(const Conv2dAxis& axis, std::int64_t i, std::int64_t position) {
  const std::int64_t at = i * axis.stride + position * axis.dilation - axis.pad_low;
  return at < 0 || at >= axis.extent ? -1 : at;
}

// visit(pixel of the image, filter position, pixel of D), wherever these meet.
template <class Visit>
void for_each_meeting(const Conv2dShape& shape, const Visit& visit) {
  const Conv2dAxis &depth = shape.depth, &h = shape.h, &w = shape.w;
  std::int64_t output = 0;
  for (std::int64_t image = 0; image < shape.n; ++image) {
    for (std::int64_t o = 0; o < depth.outputs(); ++o) {
      for (std::int64_t p = 0; p < h.outputs(); ++p) {
        for (std::int64_t q = 0; q < w.outputs(); ++q, ++output) {
          for (std::int64_t position = 0; position < shape.positions(); ++position) {
            const std::int64_t z = met(depth, o, position / w.filter / h.filter);
            const std::int64_t y = met(h, p, position / w.filter % h.filter);
            const std::int64_t x = met(w, q, position % w.filter);
            if (z < 0 || y < 0 || x < 0) continue;
            visit(((image * depth.extent + z) * h.extent + y) * w.extent + x, position, output);
          }
        }
      }
    }
  }
}

}  // namespace

MatmulData make_conv2d_data(const Conv2dShape& shape, Fill fill, std::uint64_t seed) {
  MatmulShape outputs = shape.as_matmul();
  outputs.k = 0;
  MatmulData data = make_matmul_data(outputs, fill, seed);
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
    return HostMatrix(shape.type, Major::K, 1, rows, columns, false);
  };
  const HostMatrix gradient = matrix(shape.output_pixels(), shape.k);
  data.a = shape.direction == Conv2dDirection::BackwardData ? gradient
                                                            : matrix(shape.image_pixels(), shape.c);
  data.b = shape.direction == Conv2dDirection::BackwardFilter
               ? gradient
               : matrix(shape.k * shape.positions(), shape.group_channels());
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
  const std::vector<double> a = numbers(data.a), b = numbers(data.b);
  MatmulSums sums;
  sums.value.resize(static_cast<std::size_t>(shape.as_matmul().outputs()));
  sums.magnitude.resize(sums.value.size());
  const auto add = [&](std::int64_t to, std::int64_t a_at, std::int64_t b_at) {
    const double product = a[static_cast<std::size_t>(a_at)] * b[static_cast<std::size_t>(b_at)];
    sums.value[static_cast<std::size_t>(to)] += product;
    sums.magnitude[static_cast<std::size_t>(to)] += std::abs(product);
  };
  for_each_meeting(shape, [&](std::int64_t pixel, std::int64_t position, std::int64_t output) {
    const std::int64_t channels = shape.group_channels();
    for (std::int64_t k = 0; k < shape.k; ++k) {
      const std::int64_t group = k / (shape.k / shape.groups);
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t image_at = pixel * shape.c + group * channels + c;
        const std::int64_t filter_at = (k * shape.positions() + position) * channels + c;
        const std::int64_t d_at = output * shape.k + k;
        switch (shape.direction) {
          case Conv2dDirection::Forward: add(d_at, image_at, filter_at); break;
          case Conv2dDirection::BackwardData: add(image_at, d_at, filter_at); break;
          case Conv2dDirection::BackwardFilter: add(filter_at, image_at, d_at); break;
        }
      }
    }
  });
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
          .depth = shape.depth,
          .direction = shape.direction};
}

Conv2dProblem conv2d_on_host(MatmulData& data, const Conv2dShape& shape) {
  return conv2d_at(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

Conv2dProblem conv2d_anywhere(const Conv2dShape& shape) {
  alignas(16) static int somewhere[4];
  Conv2dProblem problem;
  problem.n = shape.n;
  problem.c = shape.c;
  problem.k = shape.k;
  problem.groups = shape.groups;
  problem.h = shape.h;
  problem.w = shape.w;
  problem.depth = shape.depth;
  problem.direction = shape.direction;
  problem.image = problem.filter = problem.d = somewhere;
  problem.type = shape.type;
  problem.d_type = shape.d_type;
  return problem;
}

Status supports(const Conv2dInstance& instance, const Conv2dShape& shape) {
  return instance.supports(conv2d_anywhere(shape), {});
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
                     std::uint64_t seed, const MatmulOrder& order) {
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
  std::string line = std::string("./tw run conv2d --instance ") + instance.name + " --direction " +
                     name_of(shape.direction);
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
  if (instance.config.split == Split::Parts) {
    line += " --split-k " + std::to_string(order.split_k);
  }
  return line + " --data " + name_of(fill);
}

}  // namespace tw
