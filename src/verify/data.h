// The numbers of a problem: inputs by seed, outputs poisoned.
#pragma once

#include <functional>

#include "src/instances/shape.h"
#include "src/verify/matrix.h"

namespace tw {

// What the shape does not ask for stays empty.
struct MatmulData {
  Fill fill = Fill::Integers;
  HostMatrix a, b, source, d;
  HostMatrix column_bias, row_bias, column_scale, row_scale;  // one row each
  HostMatrix auxiliary;
  HostMatrix amax;  // one float32

  // Calls `function` with every matrix; outputs are d, auxiliary and amax.
  template <class Self, class Function>
  static void for_each(Self& self, const Function& function) {
    for (auto* matrix : {&self.a, &self.b, &self.source, &self.column_bias, &self.row_bias,
                         &self.column_scale, &self.row_scale}) {
      function(*matrix, /*output=*/false);
    }
    for (auto* matrix : {&self.d, &self.auxiliary, &self.amax}) function(*matrix, /*output=*/true);
  }
};

// All matrices that the shape asks for, without memory.
MatmulData outline_of(const MatmulShape& shape);
MatmulData make_matmul_data(const MatmulShape& shape, Fill fill, std::uint64_t seed);

// Poisons D and the auxiliary output and zeroes amax, as before a first run.
void poison_outputs(MatmulData& data);

// `address` tells where a matrix's first element is: in `data` itself, or in a copy on a GPU.
MatmulProblem problem_at(MatmulData& data, const MatmulShape& shape,
                         const std::function<void*(HostMatrix&)>& address);
MatmulProblem problem_on_host(MatmulData& data, const MatmulShape& shape);
// To ask whether a kernel would take it: addresses are aligned as they would be, and nothing more.
MatmulProblem problem_without_memory(const MatmulShape& shape);

// The same bytes in every output, padding included.
bool same_outputs(const MatmulData& first, const MatmulData& second);

// Significant bits of an integer that the sums of products of this type surely keep. Sums are
// float32, but Hopper's sums of 8-bit floats have 14 bits.
constexpr int sum_bits(ElementType operand) {
  switch (operand) {
    case ElementType::S8: return 31;
    case ElementType::E4m3:
    case ElementType::E5m2: return 14;
    default: return 24;
  }
}

}  // namespace tw
