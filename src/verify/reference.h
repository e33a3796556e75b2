// What a product must give, in double precision, and how far a kernel may be off.
#pragma once

#include "src/verify/data.h"

namespace tw {

// Each element's sum of products, and the sum of their magnitudes. (batch,m,n)
struct MatmulSums {
  std::vector<double> value;
  std::vector<double> magnitude;
};
MatmulSums sums_on_host(const MatmulData& data, const MatmulShape& shape);

// A float32 that a kernel computes lies within `error` of `value`; with no error it is `value`.
struct Expected {
  double value = 0.0;
  double error = 0.0;
};

struct MatmulReference {
  std::vector<Expected> d;          // before the cast to D's type (batch,m,output columns)
  std::vector<Expected> auxiliary;  // before the cast, where the shape has it (batch,m,n)
  Expected amax;
};

// The epilogue of those sums.
MatmulReference reference_of(const MatmulSums& sums, const MatmulData& data,
                             const MatmulShape& shape);
MatmulReference reference_on_host(const MatmulData& data, const MatmulShape& shape);

}  // namespace tw
