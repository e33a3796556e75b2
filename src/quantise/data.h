// Matrices to quantise, by seed, and outputs held against the host's. Kernels are not known here.
#pragma once

#include <functional>

#include "src/matmul/compare.h"
#include "src/matmul/matrix.h"
#include "src/matmul/shape.h"
#include "tilewright/host/quantise_problem.h"

namespace tw {

// What is quantised, without the numbers.
struct QuantiseShape {
  std::int64_t m = 0;
  std::int64_t k = 0;
  ElementType source_type = ElementType::Bf16;
  ElementType element_type = ElementType::E4m3;
  std::int64_t scale_rows = 1;
  Major scales = Major::K;
  BlockScale rule = BlockScale::real;
  bool unaligned = false;  // lines of memory begin at no multiple of 16 bytes
  std::int64_t batch = 1;
  bool operator==(const QuantiseShape&) const = default;
};

struct QuantiseData {
  HostMatrix source;
  HostMatrix elements;
  HostMatrix scales;
};

// Outputs are poisoned. Fill::Normal: numbers of very different sizes, among them blocks of zeros,
// of subnormal numbers, and with infinities and NaNs; Fill::Integers: from -8 to 8; Fill::Position:
// each element tells its place.
QuantiseData make_quantise_data(const QuantiseShape& shape, Fill fill, std::uint64_t seed);

// `address` tells where a matrix's first element is: in `data` itself, or in a copy on a GPU.
QuantiseProblem quantise_at(QuantiseData& data, const QuantiseShape& shape,
                            const std::function<void*(HostMatrix&)>& address);
QuantiseProblem quantise_in_place(QuantiseData& data, const QuantiseShape& shape);

// What the host makes of it.
QuantiseData quantised(QuantiseData data, const QuantiseShape& shape);

// Bit by bit; `result` gets what is wrong.
void compare_bits(Comparison& result, const char* name, const HostMatrix& found,
                  const HostMatrix& expected);
Comparison compare(const QuantiseData& data, const QuantiseData& expected);

}  // namespace tw
