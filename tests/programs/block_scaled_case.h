// A block-scaled problem with its operands as values, its packed bytes and its reference.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "tilewright/host/block_scaled_problem.h"
#include "tilewright/number/ue8m0.h"
#include "vgpu/machine/machine.h"

namespace tw::programs {

inline float value_of(ElementType type, std::uint8_t code) {
  switch (type) {
    case ElementType::E4m3: return static_cast<float>(E4m3::from_bits(code));
    case ElementType::E5m2: return static_cast<float>(E5m2::from_bits(code));
    case ElementType::E2m3: return static_cast<float>(E2m3::from_bits(code));
    case ElementType::E3m2: return static_cast<float>(E3m2::from_bits(code));
    default: return static_cast<float>(E2m1::from_bits(code));
  }
}
inline float value_of(ScaleType type, std::uint8_t code) {
  return type == ScaleType::Ue8m0 ? static_cast<float>(Ue8m0::from_bits(code))
                                  : static_cast<float>(Ue4m3::from_bits(code));
}

// Exact: halves up to 4 with scales of 1/2, 1 or 2, whose sums float32 holds. Any: every finite
// element, scales over 16 powers of two.
enum class ScaledFill { Exact, Any };

class ScaledOperand {
 public:
  ScaledOperand(ElementType type, Major major, ScaleType scale_type, std::int64_t rows,
                std::int64_t k, ScaledFill fill, std::mt19937& random)
      : type_(type),
        major_(major),
        scale_type_(scale_type),
        k_(k),
        pitch_(((major == Major::K ? k : rows) + 127) / 128 * 128 + 128),
        extent_(ScaleExtent::of(rows, k, scale_type)),
        values_(static_cast<std::size_t>(rows * k)),
        scales_(static_cast<std::size_t>(rows * extent_.scales)),
        memory_(
            (static_cast<std::size_t>((major == Major::K ? rows : k) * pitch_) * bits_in(type) / 8 +
             31) /
            32),
        blocks_(static_cast<std::size_t>(extent_.bytes()) / 32) {
    auto* const bytes = memory_.data()->bytes;
    std::memset(bytes, 0x5A, memory_.size() * 32);  // beside the rows
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < k; ++i) {
        const std::uint8_t code = element(fill, random);
        values_[static_cast<std::size_t>(row * k + i)] = value_of(type, code);
        const std::int64_t at = major == Major::K ? row * pitch_ + i : i * pitch_ + row;
        put(bytes, at * bits_in(type), code);
      }
    }
    std::vector<std::uint8_t> rows_of_scales;
    for (float& scale : scales_) {
      rows_of_scales.push_back(scale_code(fill, random));
      scale = value_of(scale_type, rows_of_scales.back());
    }
    pack_scales(blocks_.data()->bytes, rows_of_scales.data(), extent_.scales, extent_);
  }

  // With its scale.
  double value(std::int64_t row, std::int64_t i) const {
    const std::int64_t scale = row * extent_.scales + i / block_of(scale_type_);
    return double{values_[static_cast<std::size_t>(row * k_ + i)]} *
           scales_[static_cast<std::size_t>(scale)];
  }
  // As matrices of so many rows of a batch: all of them.
  MatmulOperand operand(std::int64_t rows) const {
    const std::int64_t lines = major_ == Major::K ? rows * pitch_ : rows;
    return {memory_.data(), pitch_, lines, type_, major_};
  }
  const void* scales() const { return blocks_.data(); }
  std::size_t bytes() const { return memory_.size() * 32; }
  std::size_t scale_bytes() const { return blocks_.size() * 32; }

 private:
  struct alignas(32) Line {
    std::uint8_t bytes[32];
  };
  std::uint8_t element(ScaledFill fill, std::mt19937& random) const {
    for (;;) {
      const auto code = static_cast<std::uint8_t>(random() % (1u << bits_in(type_)));
      const float value = value_of(type_, code);
      const bool is_small = std::abs(value) <= 4 && value * 2 == std::floor(value * 2);
      if (fill == ScaledFill::Exact ? is_small : std::isfinite(value)) return code;
    }
  }
  std::uint8_t scale_code(ScaledFill fill, std::mt19937& random) const {
    if (fill == ScaledFill::Exact) {
      const float scale = std::ldexp(1.0f, static_cast<int>(random() % 3) - 1);
      return scale_type_ == ScaleType::Ue8m0 ? Ue8m0(scale).bits : Ue4m3(scale).bits;
    }
    if (scale_type_ == ScaleType::Ue4m3) return static_cast<std::uint8_t>(random() % 0x7F);
    return static_cast<std::uint8_t>(119 + random() % 16);
  }
  void put(std::uint8_t* bytes, std::int64_t bit, std::uint8_t code) const {
    for (unsigned i = 0; i < bits_in(type_); ++i, ++bit) {
      const auto mask = static_cast<std::uint8_t>(1u << bit % 8);
      std::uint8_t& byte = bytes[bit / 8];
      byte = static_cast<std::uint8_t>(code >> i & 1 ? byte | mask : byte & ~mask);
    }
  }

  ElementType type_;
  Major major_;
  ScaleType scale_type_;
  std::int64_t k_, pitch_;
  ScaleExtent extent_;
  std::vector<float> values_, scales_;
  std::vector<Line> memory_, blocks_;
};

// D is m by n, of float32 or bf16, with poison where nobody writes. Matrices of a batch have whole
// blocks of 128 rows of A and of B, so that all of their rows are one operand's.
struct ScaledCase {
  std::int64_t m, n, k, batch;
  std::mt19937 random;
  ScaledOperand a, b;
  ElementType d_type;
  std::vector<std::uint16_t> d;  // float32: two of them
  ScaleType scale_type;
  ScaledFill fill;
  float alpha = 1;
  static constexpr std::uint16_t poison = 0xA5A5;

  template <class Config>
  ScaledCase(const Config& config, ScaleType type, std::int64_t rows, std::int64_t columns,
             std::int64_t depth, ScaledFill filled, std::uint32_t seed, std::int64_t matrices = 1)
      : m(rows),
        n(columns),
        k(depth),
        batch(matrices),
        random(seed),
        a(config.tiling.a_type, config.tiling.a_major, type, batch * m, k, filled, random),
        b(config.tiling.b_type, config.tiling.b_major, type, batch * n, k, filled, random),
        d_type(config.d_type),
        d(static_cast<std::size_t>(batch * m * pitch() * bytes_of(d_type) / 2), poison),
        scale_type(type),
        fill(filled) {}
  std::int64_t pitch() const { return (n + 7) / 8 * 8 + 8; }

  BlockScaledProblem problem() {
    BlockScaledProblem given;
    given.matmul.m = m;
    given.matmul.n = n;
    given.matmul.k = k;
    given.matmul.batch = batch;
    given.matmul.a = a.operand(m);
    given.matmul.b = b.operand(n);
    given.matmul.d = {d.data(), pitch(), m * pitch(), d_type};
    given.matmul.epilogue.alpha = alpha;
    given.a_scales = a.scales();
    given.b_scales = b.scales();
    given.scale_type = scale_type;
    return given;
  }
  std::vector<vgpu::GlobalRange> touched() const {
    return {{a.operand(m).data, a.bytes(), "A", true, false},
            {b.operand(n).data, b.bytes(), "B", true, false},
            {a.scales(), a.scale_bytes(), "A's scales", true, false},
            {b.scales(), b.scale_bytes(), "B's scales", true, false},
            {d.data(), d.size() * 2, "D", false, true}};
  }
  bool is_poison(std::int64_t row, std::int64_t column) const {
    const std::size_t halves = bytes_of(d_type) / 2;
    const std::size_t at = static_cast<std::size_t>(row * pitch() + column) * halves;
    return d[at] == poison && d[at + halves - 1] == poison;
  }
  float found(std::int64_t row, std::int64_t column) const {
    const auto at = static_cast<std::size_t>(row * pitch() + column);
    if (d_type == ElementType::Bf16) return static_cast<float>(Bf16::from_bits(d[at]));
    float value;
    std::memcpy(&value, &d[2 * at], sizeof value);
    return value;
  }
  // Elements of D that are wrong, or overwritten beside D. Each product of the tensor core rounds
  // its sum to float32 once, or cuts it off: an error of at most 2^-23 of the sum of magnitudes.
  // The cast to D's type never reverses an order.
  std::int64_t wrong() const {
    const auto cast = [&](double value) {
      const auto rounded = static_cast<float>(value);
      return d_type == ElementType::Bf16 ? static_cast<float>(Bf16(rounded)) : rounded;
    };
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < batch * m; ++row) {
      for (std::int64_t column = 0; column < pitch(); ++column) {
        if (column >= n) {
          count += !is_poison(row, column);
          continue;
        }
        double sum = 0, magnitudes = 0;
        for (std::int64_t i = 0; i < k; ++i) {
          const double product = alpha * a.value(row, i) * b.value(row / m * n + column, i);
          sum += product;
          magnitudes += std::abs(product);
        }
        const double products = static_cast<double>((k + 31) / 32);
        const double error =
            fill == ScaledFill::Exact ? 0 : (products + 1) * std::ldexp(magnitudes, -23);
        const float value = found(row, column);
        count += !(value >= cast(sum - error) && value <= cast(sum + error));
      }
    }
    return count;
  }
};

}  // namespace tw::programs
