#include "vgpu/data/warp_matrix.h"

#include <bit>

#include "tilewright/number/narrow_float.h"

namespace tw::vgpu {
namespace {

constexpr unsigned mma_m = 16;
constexpr unsigned mma_n = 8;
constexpr unsigned most_k = 32;

unsigned elements_per_register(MmaType type) {
  return type == MmaType::Tf32 ? 1 : type == MmaType::S8 ? 4 : 2;
}

float float_value(MmaType type, std::uint32_t bits) {
  switch (type) {
    case MmaType::Bf16: return std::bit_cast<float>(bits << 16);
    case MmaType::F16: return static_cast<float>(Fp16::from_bits(static_cast<std::uint16_t>(bits)));
    default: return static_cast<float>(Tf32::from_bits(bits));
  }
}

// Calls set(row or column, k, bits) for every element of `count` registers of each lane.
template <class Set>
void for_each_element(MmaType type, const std::uint32_t* const registers[32], unsigned count,
                      Set&& set) {
  const unsigned elements = elements_per_register(type);
  const unsigned bits = 32 / elements;
  const std::uint32_t mask = elements == 1 ? ~0u : (1u << bits) - 1;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < count; ++i) {
      // a has two rows per lane and then the second half of k, b only the halves of k.
      const unsigned outer = lane / 4 + (count == 4 ? i % 2 * 8 : 0);
      const unsigned k = elements * (lane % 4 + 4 * (count == 4 ? i / 2 : i));
      for (unsigned e = 0; e < elements; ++e) {
        set(outer, k + e, registers[lane][i] >> (e * bits) & mask);
      }
    }
  }
}

template <class Sum, class Visit>
void for_each_sum(const MmaLanes& lanes, Visit&& visit) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    Sum* d = static_cast<Sum*>(lanes.d[lane]);
    for (unsigned i = 0; i < 4; ++i) visit(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2, d[i]);
  }
}

// Every NaN that a tensor core makes has the same bits.
float canonical(float sum) {
  return float32::is_nan(sum) ? std::bit_cast<float>(float32::canonical_nan) : sum;
}
std::int32_t canonical(std::int32_t sum) { return sum; }

// Element is what is multiplied, Sum the type of d.
template <class Element, class Sum, class Value>
void multiply(MmaType type, const MmaLanes& lanes, Value&& value) {
  Element a[mma_m][most_k], b[most_k][mma_n];
  for_each_element(type, lanes.a, 4,
                   [&](unsigned row, unsigned k, std::uint32_t bits) { a[row][k] = value(bits); });
  for_each_element(type, lanes.b, 2, [&](unsigned column, unsigned k, std::uint32_t bits) {
    b[k][column] = value(bits);
  });
  Element sums[mma_m][mma_n];
  for_each_sum<Sum>(lanes, [&](unsigned row, unsigned column, Sum& d) {
    sums[row][column] = static_cast<Element>(d);
  });
  const unsigned k_end = 8 * elements_per_register(type);
  for (unsigned row = 0; row < mma_m; ++row) {
    for (unsigned k = 0; k < k_end; ++k) {
      for (unsigned column = 0; column < mma_n; ++column) {
        sums[row][column] += a[row][k] * b[k][column];
      }
    }
  }
  for_each_sum<Sum>(lanes, [&](unsigned row, unsigned column, Sum& d) {
    d = canonical(static_cast<Sum>(sums[row][column]));
  });
}

}  // namespace

void mma_m16n8(MmaType type, const MmaLanes& lanes) {
  if (type == MmaType::S8) {
    multiply<std::uint32_t, std::int32_t>(type, lanes, [](std::uint32_t bits) {
      return static_cast<std::uint32_t>(static_cast<std::int8_t>(bits));
    });
  } else {
    multiply<float, float>(type, lanes,
                           [type](std::uint32_t bits) { return float_value(type, bits); });
  }
}

}  // namespace tw::vgpu
