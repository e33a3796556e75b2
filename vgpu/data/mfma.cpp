#include "vgpu/data/mfma.h"

#include <bit>

#include "tilewright/number/narrow_float.h"

namespace tw::vgpu {
namespace {

constexpr unsigned most_rows = 32;
constexpr unsigned most_elements = 16 * 128;  // A has, and B has

template <class Number, class Bits>
float value_of(Bits bits) {
  return static_cast<float>(Number::from_bits(bits));
}

float float_value(MfmaType type, std::uint32_t bits) {
  const auto half = static_cast<std::uint16_t>(bits);
  const auto byte = static_cast<std::uint8_t>(bits);
  switch (type) {
    case MfmaType::Bf16: return std::bit_cast<float>(bits << 16);
    case MfmaType::F16: return value_of<Fp16>(half);
    case MfmaType::E4m3: return value_of<E4m3>(byte);
    case MfmaType::E5m2: return value_of<E5m2>(byte);
    case MfmaType::E4m3Fnuz: return value_of<E4m3Fnuz>(byte);
    case MfmaType::E5m2Fnuz: return value_of<E5m2Fnuz>(byte);
    default: break;
  }
  return 0;
}
std::uint32_t integer_value(std::uint32_t bits) {
  return static_cast<std::uint32_t>(static_cast<std::int8_t>(bits));
}

// Calls set(row or column, k, bits) for every element of one operand.
template <class Set>
void for_each_element(const MfmaShape& shape, const std::uint32_t* const registers[], Set&& set) {
  const unsigned bytes = bytes_of(shape.a);
  for (unsigned lane = 0; lane < MfmaShape::lanes; ++lane) {
    for (unsigned e = 0; e < shape.elements(); ++e) {
      std::uint32_t bits = registers[lane][e * bytes / 4] >> (e * bytes % 4 * 8);
      bits &= bytes == 2 ? 0xffffu : 0xffu;
      set(lane % shape.rows, shape.k_of(lane, e), bits);
    }
  }
}

// Element is what is multiplied, Sum the type of d.
template <class Element, class Sum, class Value>
void multiply(const MfmaShape& shape, const MfmaLanes& lanes, Value&& value) {
  Element a[most_elements], b[most_elements], sums[most_rows][most_rows];
  for_each_element(shape, lanes.a, [&](unsigned row, unsigned k, std::uint32_t bits) {
    a[row * shape.k + k] = value(shape.a, bits);
  });
  for_each_element(shape, lanes.b, [&](unsigned column, unsigned k, std::uint32_t bits) {
    b[k * shape.rows + column] = value(shape.b, bits);
  });
  const auto for_each_sum = [&](const auto& visit) {
    for (unsigned lane = 0; lane < MfmaShape::lanes; ++lane) {
      Sum* d = static_cast<Sum*>(lanes.d[lane]);
      for (unsigned i = 0; i < shape.sums(); ++i) {
        visit(sums[shape.sum_row(lane, i)][lane % shape.rows], d[i]);
      }
    }
  };
  for_each_sum([](Element& sum, const Sum& d) { sum = static_cast<Element>(d); });
  for (unsigned row = 0; row < shape.rows; ++row) {
    for (unsigned k = 0; k < shape.k; ++k) {
      for (unsigned column = 0; column < shape.rows; ++column) {
        sums[row][column] += a[row * shape.k + k] * b[k * shape.rows + column];
      }
    }
  }
  for_each_sum([](const Element& sum, Sum& d) { d = static_cast<Sum>(sum); });
}

}  // namespace

void mfma(const MfmaShape& shape, const MfmaLanes& lanes) {
  if (shape.a == MfmaType::S8) {
    multiply<std::uint32_t, std::int32_t>(
        shape, lanes, [](MfmaType, std::uint32_t bits) { return integer_value(bits); });
  } else {
    multiply<float, float>(shape, lanes, float_value);
  }
}

}  // namespace tw::vgpu
