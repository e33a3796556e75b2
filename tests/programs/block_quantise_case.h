// A matrix to be quantised to a block-scaled format, with infinities and NaN, and poisoned outputs.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tilewright/host/block_quantise.h"

namespace tw::programs {

template <ElementType element, ScaleType scale>
struct NamedFormat {
  static constexpr BlockQuantiseConfig config = {element, scale};
};

struct QuantiseData {
  std::int64_t m, k, source_pitch, elements_pitch;
  std::vector<std::uint32_t> source;  // enough for float32
  struct alignas(16) Line {
    std::uint8_t bytes[16];
  };
  std::vector<Line> elements, scales;
  BlockQuantiseProblem problem;

  QuantiseData(BlockQuantiseConfig config, ElementType source_type, std::int64_t rows,
               std::int64_t columns, MxScale rule, bool aligned, unsigned seed)
      : m(rows),
        k(columns),
        source_pitch((columns + 7) / 8 * 8 + (aligned ? 8 : 9)),
        elements_pitch((columns + 127) / 128 * 128) {
    const auto extent = ScaleExtent::of(m, k, config.scale_type);
    source.resize(static_cast<std::size_t>(m * source_pitch));
    elements.resize(static_cast<std::size_t>(m * elements_pitch * bits_in(config.element_type)) /
                    128);
    scales.resize(static_cast<std::size_t>(extent.bytes()) / 16);
    std::memset(elements.data(), 0xEE, elements.size() * 16);
    std::memset(scales.data(), 0xEE, scales.size() * 16);
    std::mt19937 random(seed);
    std::vector<float> values;
    for (std::int64_t i = 0; i < m * source_pitch; ++i) {
      float value = std::ldexp(static_cast<float>(random() % 4096) / 1024 - 2,
                               static_cast<int>(random() % 16) - 8);
      if (random() % 500 == 0) value = std::numeric_limits<float>::infinity();
      if (random() % 500 == 0) value = std::numeric_limits<float>::quiet_NaN();
      values.push_back(value);
      put(source_type, i, value);
    }
    problem = {.m = m,
               .k = k,
               .source = source.data(),
               .source_pitch = source_pitch,
               .source_type = source_type,
               .elements = elements.data(),
               .elements_pitch = elements_pitch,
               .element_type = config.element_type,
               .scales = scales.data()->bytes,
               .scale_type = config.scale_type,
               .rule = rule,
               .tensor_scale = nvfp4_tensor_scale(values)};
  }
  void put(ElementType type, std::int64_t index, float value) {
    if (type == ElementType::Fp32) std::memcpy(&source[static_cast<std::size_t>(index)], &value, 4);
    const std::uint16_t half = type == ElementType::Bf16 ? Bf16(value).bits : Fp16(value).bits;
    auto* const halves = reinterpret_cast<std::uint16_t*>(source.data());
    if (type != ElementType::Fp32) std::memcpy(halves + index, &half, 2);
  }
  // Elements and scales, padding included.
  bool same_bytes(const QuantiseData& other) const {
    const auto same = [](const std::vector<Line>& one, const std::vector<Line>& two) {
      return std::memcmp(one.data(), two.data(), one.size() * 16) == 0;
    };
    return same(elements, other.elements) && same(scales, other.scales);
  }
};

}  // namespace tw::programs
