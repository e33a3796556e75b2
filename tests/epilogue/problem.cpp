#include "tests/epilogue/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "tilewright/number/convert.h"

namespace tw::tests {
namespace {

constexpr unsigned char poison = 0xa5;
constexpr double unit = 0x1p-24;  // half an ulp of 1 in float32

double decoded(ElementType type, const void* element) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, element, sizeof value);
    return static_cast<double>(to_float(value));
  };
  switch (type) {
    case ElementType::Bf16: return as(Bf16{});
    case ElementType::Fp16: return as(Fp16{});
    case ElementType::E4m3: return as(E4m3{});
    case ElementType::S32: {
      std::int32_t value;
      std::memcpy(&value, element, sizeof value);
      return value;
    }
    default: return as(float{});
  }
}

void encode(ElementType type, void* element, float value) {
  const auto as = [&](auto typed) { std::memcpy(element, &typed, sizeof typed); };
  switch (type) {
    case ElementType::Bf16: return as(Bf16(value));
    case ElementType::Fp16: return as(Fp16(value));
    case ElementType::E4m3: return as(E4m3(value));
    case ElementType::S32: return as(round_to_integer<std::int32_t>(value));
    default: return as(value);
  }
}

// The nearest of the type, as a double.
double rounded(ElementType type, float value) {
  unsigned char element[4];
  encode(type, element, value);
  return decoded(type, element);
}

float next_below(double value) {
  const auto near = static_cast<float>(value);
  return near <= value ? near : std::nextafter(near, -INFINITY);
}
float next_above(double value) {
  const auto near = static_cast<float>(value);
  return near >= value ? near : std::nextafter(near, INFINITY);
}

// Rounding is monotone: what lies between two values is rounded to something between theirs.
bool agrees(ElementType type, double seen, Expected expected) {
  const double low = expected.value - expected.error;
  const double high = expected.value + expected.error;
  // An int32 beyond 2^24 is no float; it is compared as it is.
  if (type == ElementType::S32 && expected.error == 0 && low == std::round(low)) return seen == low;
  return rounded(type, next_below(low)) <= seen && seen <= rounded(type, next_above(high));
}

Expected scaled(Expected of, double factor) {
  const double value = of.value * factor;
  return {value, of.error * std::abs(factor) + (of.error > 0 ? unit * std::abs(value) : 0)};
}
// The sum of two, each with its error, is rounded once more; so is the product within.
Expected added(Expected left, Expected right) {
  const double value = left.value + right.value;
  const double error = left.error + right.error;
  return {value, error + (error > 0 ? unit * (std::abs(value) + error) : 0)};
}
Expected multiplied(Expected left, Expected right) {
  const double value = left.value * right.value;
  const double error = left.error * std::abs(right.value) + right.error * std::abs(left.value) +
                       left.error * right.error;
  return {value, error + (error > 0 ? unit * (std::abs(value) + error) : 0)};
}

// Slopes are at most 1.13 (gelu) and 1.1 (silu). Each formula's own error: erf, exp and tanh are
// good to 2 ulp (4 units), the reciprocal to 1 (2 units), every other operation to 1 unit.
Expected activated(Expected of, const EpilogueArguments& arguments) {
  const double x = of.value;
  switch (arguments.activation) {
    case Activation::Relu: return {std::max(x, 0.0), of.error};
    case Activation::Clamp:
      return {std::clamp<double>(x, arguments.clamp_low, arguments.clamp_high), of.error};
    case Activation::Gelu:
      return {0.5 * x * (1 + std::erf(x / std::sqrt(2.0))),
              1.13 * of.error + 8 * unit * (std::abs(x) + of.error)};
    case Activation::Silu: {
      const double value = x / (1 + std::exp(-x));
      return {value, 1.1 * of.error + 10 * unit * (std::abs(value) + of.error) + 0x1p-120};
    }
    case Activation::Tanh:
      return {std::tanh(x), of.error + 5 * unit * (std::abs(std::tanh(x)) + of.error)};
    default: return of;
  }
}

}  // namespace

PaddedMatrix::PaddedMatrix(int batch_count, int row_count, int column_count, ElementType of,
                           bool aligned)
    : type(of), batch(batch_count), rows(row_count), columns(column_count) {
  const std::int64_t bytes = bytes_of(type);
  // Aligned: 16 bytes, with some padding. Otherwise every row begins at another offset.
  pitch = aligned ? (columns * bytes + 31) / 16 * 16 / bytes : (columns + 2) / 2 * 2 + 1;
  batch_pitch = aligned ? rows * pitch + 32 / bytes : rows * pitch + 3;
  begin = aligned ? 64 : 64 + static_cast<std::size_t>(bytes);
  storage.assign(begin + static_cast<std::size_t>(batch * batch_pitch * bytes) + 64, poison);
  // The address of a vector of this size is a multiple of 16.
}

double PaddedMatrix::get(int batch_index, int row, int column) const {
  return decoded(type, data() + index(batch_index, row, column) * bytes_of(type));
}
void PaddedMatrix::set(int batch_index, int row, int column, double value) {
  encode(type, data() + index(batch_index, row, column) * bytes_of(type),
         static_cast<float>(value));
}

std::string EpilogueCase::name() const {
  const EpilogueArguments& a = arguments;
  return fmt::format(
      "m {} n {} batch {} groups {} {}{} {} {} {} {} seed {}: alpha {} beta {} source {} ({}) "
      "column bias {} row bias {} ({}) scales {} {} activation {} gated {} auxiliary {} ({}) "
      "amax {} output scale {}",
      m, n, batch, group_ends.size(), integer_sums ? "s32 to " : "", name_of(output),
      exact ? "exact" : "random", aligned ? "aligned" : "unaligned",
      mechanism == Mechanism::Staged ? "staged" : "direct",
      held == Held::Matrix   ? "matrix"
      : held == Held::Narrow ? "narrow"
      : held == Held::Warps  ? "warps"
                             : "row",
      seed, a.alpha, a.beta, a.source != nullptr, name_of(a.source_type), a.column_bias != nullptr,
      a.row_bias != nullptr, name_of(a.bias_type), a.column_scale != nullptr,
      a.row_scale != nullptr, static_cast<unsigned>(a.activation), a.gated, a.auxiliary != nullptr,
      name_of(a.auxiliary_type), a.amax != nullptr, a.output_scale);
}

EpilogueData::EpilogueData(const EpilogueCase& of) : problem(of), arguments(of.arguments) {
  std::mt19937_64 random(problem.seed);
  std::normal_distribution<double> normal;
  const bool exact = problem.exact;
  const int batch = problem.batch, m = problem.m, n = problem.n;
  const auto draw = [&]() -> double {
    return exact ? static_cast<double>(random() % 17) - 8 : normal(random);
  };
  const auto fill = [&](PaddedMatrix& matrix, auto&& value) {
    for (int b = 0; b < matrix.batch; ++b) {
      for (int row = 0; row < matrix.rows; ++row) {
        for (int column = 0; column < matrix.columns; ++column) {
          matrix.set(b, row, column, value());
        }
      }
    }
  };
  sums.resize(static_cast<std::size_t>(batch) * m * n);
  for (double& value : sums) {
    value = problem.integer_sums ? std::round(8 * draw()) : static_cast<float>(4 * draw());
    if (exact) value = static_cast<double>(random() % 17) - 8;
  }
  const int columns = problem.output_columns();
  d = PaddedMatrix(batch, m, columns, problem.output, problem.aligned);
  const auto vector = [&](PaddedMatrix& matrix, int count, ElementType type, auto& pointer,
                          auto&& value) {
    if (pointer == nullptr) return;
    matrix = PaddedMatrix(1, 1, count, type, problem.aligned_operands);
    fill(matrix, value);
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(matrix.data());
  };
  const auto factor = [&]() -> double {
    return exact ? std::ldexp(1.0, static_cast<int>(random() % 3) - 1) : normal(random);
  };
  vector(column_bias, n, arguments.bias_type, arguments.column_bias, draw);
  vector(row_bias, m, arguments.bias_type, arguments.row_bias, draw);
  vector(column_scale, n, ElementType::Fp32, arguments.column_scale, factor);
  vector(row_scale, m, ElementType::Fp32, arguments.row_scale, factor);
  if (arguments.source != nullptr) {
    source = PaddedMatrix(batch, m, columns, arguments.source_type, problem.aligned_operands);
    fill(source, draw);
    arguments.source = source.data();
    arguments.source_pitch = source.pitch;
    arguments.source_batch_pitch = source.batch_pitch;
  }
  if (arguments.auxiliary != nullptr) {
    auxiliary = PaddedMatrix(batch, m, n, arguments.auxiliary_type, problem.aligned_operands);
    arguments.auxiliary = auxiliary.data();
    arguments.auxiliary_pitch = auxiliary.pitch;
    arguments.auxiliary_batch_pitch = auxiliary.batch_pitch;
  }
  if (arguments.amax != nullptr) arguments.amax = &amax;
}

std::vector<TileOrigin> EpilogueData::tiles(int tile_rows, int tile_columns) const {
  std::vector<int> ends = problem.group_ends;
  if (ends.empty()) ends.push_back(problem.m);
  std::vector<TileOrigin> result;
  for (int batch = 0; batch < problem.batch; ++batch) {
    int begin = 0;
    for (const int end : ends) {
      for (int row = begin; row < end; row += tile_rows) {
        for (int column = 0; column < problem.n; column += tile_columns) {
          result.push_back({batch, row, column, end});
        }
      }
      begin = end;
    }
  }
  return result;
}

std::vector<vgpu::GlobalRange> EpilogueData::ranges() const {
  std::vector<vgpu::GlobalRange> result;
  const auto add = [&](const PaddedMatrix& matrix, const char* name, bool writable) {
    if (matrix.storage.empty()) return;
    if (writable) {
      // With the padding: what is touched there shows in the comparison.
      result.push_back({matrix.storage.data(), matrix.storage.size(), name, false, true});
    } else {
      // From the first element to the last.
      const std::size_t last = matrix.index(matrix.batch - 1, matrix.rows - 1, matrix.columns - 1);
      result.push_back({matrix.data(), (last + 1) * bytes_of(matrix.type), name, true, false});
    }
  };
  add(d, "D", true);
  add(auxiliary, "auxiliary", true);
  add(source, "source", false);
  add(column_bias, "column bias", false);
  add(row_bias, "row bias", false);
  add(column_scale, "column scale", false);
  add(row_scale, "row scale", false);
  if (arguments.amax != nullptr) result.push_back({&amax, sizeof amax, "amax", true, true});
  return result;
}

Expected EpilogueData::before(int batch, int row, int column) const {
  const std::size_t index =
      (static_cast<std::size_t>(batch) * problem.m + row) * problem.n + column;
  const bool converted = problem.integer_sums && std::abs(sums[index]) > 0x1p24;
  // The first error makes all later roundings count; the first product is where it comes from.
  const double first = problem.exact ? 0 : 4 * unit * std::abs(sums[index] * arguments.alpha);
  Expected value = {sums[index] * arguments.alpha, converted ? 2 * first : first};
  if (!row_scale.storage.empty()) value = scaled(value, row_scale.get(0, 0, row));
  if (!column_scale.storage.empty()) value = scaled(value, column_scale.get(0, 0, column));
  const auto plus = [&](double term) {
    value = added(value, {term, problem.exact ? 0 : unit * std::abs(term)});
  };
  if (!source.storage.empty() && !arguments.gated) {
    plus(arguments.beta * source.get(batch, row, column));
  }
  if (!column_bias.storage.empty()) plus(column_bias.get(0, 0, column));
  if (!row_bias.storage.empty()) plus(row_bias.get(0, 0, row));
  return value;
}

Expected EpilogueData::after(int batch, int row, int column) const {
  if (!arguments.gated) return activated(before(batch, row, column), arguments);
  const Expected even = activated(before(batch, row, 2 * column), arguments);
  Expected value = multiplied(even, before(batch, row, 2 * column + 1));
  if (!source.storage.empty()) {
    const double term = arguments.beta * source.get(batch, row, column);
    value = added(value, {term, problem.exact ? 0 : unit * std::abs(term)});
  }
  return value;
}

std::string EpilogueData::complaint() const {
  std::string first;
  int wrong = 0;
  const auto judge = [&](const PaddedMatrix& matrix, const char* name, auto&& expected_at) {
    std::vector<bool> inside(matrix.storage.size());
    for (int batch = 0; batch < matrix.batch; ++batch) {
      for (int row = 0; row < problem.stored_rows(); ++row) {
        for (int column = 0; column < matrix.columns; ++column) {
          const std::size_t bytes = bytes_of(matrix.type);
          const std::size_t at = matrix.begin + matrix.index(batch, row, column) * bytes;
          std::fill_n(inside.begin() + static_cast<std::ptrdiff_t>(at), bytes, true);
          const Expected expected = expected_at(batch, row, column);
          const double seen = matrix.get(batch, row, column);
          if (agrees(matrix.type, seen, expected)) continue;
          if (wrong++ == 0) {
            first = fmt::format("{} ({}, {}, {}) is {}, expected {} +- {}", name, batch, row,
                                column, seen, expected.value, expected.error);
          }
        }
      }
    }
    for (std::size_t at = 0; at < inside.size(); ++at) {
      if (inside[at] || matrix.storage[at] == poison) continue;
      if (wrong++ == 0) first = fmt::format("byte {} around {} was touched", at, name);
    }
  };
  judge(d, "D", [&](int batch, int row, int column) {
    return scaled(after(batch, row, column), arguments.output_scale);
  });
  if (!auxiliary.storage.empty()) {
    judge(auxiliary, "auxiliary",
          [&](int batch, int row, int column) { return before(batch, row, column); });
  }
  if (arguments.amax != nullptr) {
    double low = 0, high = 0;
    for (int batch = 0; batch < problem.batch; ++batch) {
      for (int row = 0; row < problem.stored_rows(); ++row) {
        for (int column = 0; column < problem.output_columns(); ++column) {
          const Expected value = after(batch, row, column);
          low = std::max(low, std::abs(value.value) - value.error);
          high = std::max(high, std::abs(value.value) + value.error);
        }
      }
    }
    const auto seen = std::bit_cast<float>(amax);
    if (!(next_below(low) <= seen && seen <= next_above(high))) {
      if (wrong++ == 0) first = fmt::format("amax is {}, expected {} to {}", seen, low, high);
    }
  }
  return wrong == 0 ? "" : fmt::format("{}; {} wrong in all", first, wrong);
}

}  // namespace tw::tests
