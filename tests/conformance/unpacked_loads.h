// TMA loads that unpack elements of 4 and 6 bits: 16 of them lie in 8 or 12 bytes of global memory,
// and in the first 8 or 12 of 16 bytes of shared memory, whose others keep what they had.
#pragma once

#include "tests/conformance/loads.h"

namespace tw::conformance {

inline std::vector<Program> list_unpacked_loads() {
  std::vector<Program> programs;
  for (const unsigned bits : {4u, 6u}) {
    for (const Swizzle swizzle : {Swizzle::None, Swizzle::Bytes128}) {
      Tensor tensor;
      tensor.element_bytes = 1;
      tensor.packed_bits = bits;
      tensor.rank = 2;
      tensor.extents[0] = 256, tensor.extents[1] = 11;
      tensor.pitch_bytes[0] = 256 * bits / 8 + 32;  // a gap: no neighbour passes for a row's own
      tensor.box[0] = 128, tensor.box[1] = 8;
      tensor.swizzle = swizzle;
      // Inside; ragged below and above; beyond either end.
      programs.push_back(
          load_program({"unpacked_" + std::to_string(bits) + "_" + name_of(swizzle),
                        tensor,
                        {{0, 0}, {128, 2}, {0, 7}, {128, -3}, {256, 0}, {-128, 1}}}));
    }
  }
  return programs;
}

}  // namespace tw::conformance
