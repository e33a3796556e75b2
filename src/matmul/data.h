// Problems with known answers: inputs, a reference in double precision, and the comparison.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/host/matmul.h"

namespace tw {

enum class Fill {
  Integers,  // -4 .. 4: every sum is exact, the result is compared bit by bit
  Normal,    // standard normal: held to a derived bound
};

struct MatmulShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  float alpha = 1.0f;
  float beta = 0.0f;  // 0: no C
  bool bias = false;
};

// Row-major; rows begin at multiples of 16 bytes, as TMA wants them.
struct HostMatrix {
  HostMatrix() = default;
  HostMatrix(std::int64_t rows, std::int64_t columns)
      : rows(rows), columns(columns), pitch((columns + 7) / 8 * 8), values(rows * pitch) {}
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t pitch = 0;
  std::vector<Bf16> values;
};

struct MatmulData {
  HostMatrix a, b, source, d;
  std::vector<Bf16> bias;
};

// `d` is poisoned: an element that the kernel leaves alone is a NaN no conversion makes.
MatmulData make_matmul_data(const MatmulShape& shape, Fill fill, std::uint64_t seed);
MatmulProblem problem_on_host(MatmulData& data, const MatmulShape& shape);

// Before rounding to bf16, and the sum of the magnitudes that were added up. (m,n) without padding.
struct MatmulReference {
  std::vector<double> value;
  std::vector<double> magnitude;
};
MatmulReference reference_on_host(const MatmulData& data, const MatmulShape& shape);

struct Comparison {
  bool exact = false;  // compared bit by bit
  std::int64_t wrong = 0;
  std::int64_t padding_touched = 0;
  double worst = 0.0;  // largest error within the bound, as a share of it
  std::string first;   // a sentence about the first wrong element
  bool good() const { return wrong == 0 && padding_touched == 0; }
};
Comparison compare(const MatmulData& data, const MatmulReference& reference,
                   const MatmulShape& shape, Fill fill);

}  // namespace tw
